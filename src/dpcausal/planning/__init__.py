"""What a budget can show, from schema, number of rows and budget alone. Nothing here sees data or noise."""
