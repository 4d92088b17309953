"""`evenflow doctor`: what made a program slow or grow, by file and line, and what to write instead.

The engine counts and times always (`include/evenflow.h`, events). Here its sums are read once, at the end of a run:

- `observed` gives the sums the places of the user's program;
- `causes` is the table of causes: a record each, whose rule turns sums into findings;
- `report` prints findings; `patch` writes the mechanical ones as a diff;
- `session` is a run under the doctor, `command` the command line.
"""
