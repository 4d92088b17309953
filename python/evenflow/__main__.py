"""`python -m evenflow program.py`: the same as the command `evenflow run program.py`."""
import sys

from evenflow._src.cli import main

sys.exit(main())
