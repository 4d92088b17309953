"""`evenflow completion`: generates completion scripts for shells from the parsers of the commands."""
import argparse

from . import COMMANDS, module
from .options import Parser
from .terminal import out

EXAMPLES = (("eval \"$(evenflow completion bash)\"", "in ~/.bashrc"),
            ("evenflow completion zsh > ~/.zfunc/_evenflow", "in a folder of zsh's fpath"),
            ("evenflow completion fish > ~/.config/fish/completions/evenflow.fish", "for fish"))
SHELLS = ("bash", "zsh", "fish")


def parser():
    parse = Parser("evenflow completion",
                   "Prints a script that completes commands, options and files of `evenflow` in a shell.", EXAMPLES)
    parse.add_argument("shell", metavar="SHELL", choices=SHELLS, help="bash, zsh or fish")
    return parse


def described():
    """[(command, what it does, [(option strings, help, takes a value)])]"""
    found = []
    for name, (_, what) in COMMANDS.items():
        actions = [a for a in module(name).parser()._actions if a.option_strings]
        found.append((name, what, [(a.option_strings, a.help or "", a.nargs != 0 and not isinstance(a, argparse._HelpAction))
                                   for a in actions]))
    return found


def bash():
    cases = [f"    {name}) words=\"{' '.join(o for options, _, _ in rows for o in options)}{' bash zsh fish' * (name == 'completion')}\" ;;"
             for name, _, rows in described()]
    return "\n".join([
        "_evenflow() {",
        '  local word="${COMP_WORDS[COMP_CWORD]}" words=""',
        '  if [ "$COMP_CWORD" -eq 1 ]; then',
        f"    COMPREPLY=($(compgen -W \"{' '.join(COMMANDS)} --help --version\" -- \"$word\") $(compgen -f -X '!*.py' -- \"$word\"))",
        "    return", "  fi",
        '  case "${COMP_WORDS[1]}" in', *cases, "  esac",
        '  COMPREPLY=()',
        '  case "$word" in -*) COMPREPLY=($(compgen -W "$words" -- "$word")); return ;; esac',
        '  if [ "${COMP_WORDS[1]}" = completion ]; then COMPREPLY=($(compgen -W "$words" -- "$word")); return; fi',
        '  COMPREPLY=($(compgen -f -- "$word"))',
        "}", "complete -o filenames -F _evenflow evenflow", ""])


def _quoted(text):
    return "'" + text.replace("%%", "%").replace("'", "'\\''") + "'"


def zsh():
    lines = ["#compdef evenflow", "_evenflow() {", "  if (( CURRENT == 2 )); then", "    local -a commands",
             "    commands=(" + " ".join(_quoted(f"{name}:{what}") for name, what, _ in described()) + ")",
             "    _describe command commands; _files -g '*.py'; return", "  fi", "  case $words[2] in"]
    for name, _, rows in described():
        specs = []
        for options, text, value in rows:
            text = text.replace("[", "(").replace("]", ")").replace(":", " ")
            specs += [_quoted(f"{o}[{text}]" + (":value:_files" if value else "")) for o in options]
        rest = "'*:shell:(bash zsh fish)'" if name == "completion" else "'*:file:_files'"
        lines.append(f"    {name}) shift words; (( CURRENT-- )); _arguments {' '.join(specs)} {rest} ;;")
    return "\n".join([*lines, "  esac", "}", '_evenflow "$@"', ""])


def fish():
    lines = ["complete -c evenflow -n __fish_use_subcommand -l help -d 'show help'",
             "complete -c evenflow -n __fish_use_subcommand -l version -d 'show the version'"]
    for name, what, rows in described():
        lines.append(f"complete -c evenflow -n __fish_use_subcommand -a {name} -d {_quoted(what)}")
        for options, text, value in rows:
            forms = " ".join(f"-l {o[2:]}" if o.startswith("--") else f"-s {o[1:]}" for o in options)
            lines.append(f"complete -c evenflow -n '__fish_seen_subcommand_from {name}' {forms}{' -r' * value} -d {_quoted(text)}")
    lines.append("complete -c evenflow -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'")
    return "\n".join([*lines, ""])


def main(arguments, run_file):
    del run_file
    out({"bash": bash, "zsh": zsh, "fish": fish}[parser().parse_args(arguments).shell](), end="")
    return 0
