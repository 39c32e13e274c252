"""``python -m dpcausal`` is ``dpcausal``."""

from dpcausal.cli.start import main

main()
