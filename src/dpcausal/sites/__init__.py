"""One graph from several sites: a protocol, contributions of sites, and what they show together."""
