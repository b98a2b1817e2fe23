"""``dpaudit completion``: what a shell needs to complete commands, options and files."""

from __future__ import annotations

import argparse

from dpaudit.commands import HOLDS, Answer, Command, as_json
from dpaudit.commands.registry import MODULES, command, fill_parser

SHELLS = ("bash", "zsh", "fish")
PLACES = {
    "bash": 'eval "$(dpaudit completion bash)"  # in ~/.bashrc',
    "zsh": 'eval "$(dpaudit completion zsh)"  # in ~/.zshrc, after compinit',
    "fish": "dpaudit completion fish > ~/.config/fish/completions/dpaudit.fish",
}


def completion_command(options: argparse.Namespace) -> Answer:
    script = {"bash": _bash, "zsh": _zsh, "fish": _fish}[options.shell](_commands())
    if options.format == "json":
        return HOLDS, as_json({"schema": "dpaudit.completion/1", "shell": options.shell, "script": script})
    return HOLDS, script


def _commands() -> dict[str, tuple[str, dict[str, list[str]]]]:
    """Every command with its help, its options and the words that each option may have."""
    found = {}
    for described in map(command, MODULES):
        parser = argparse.ArgumentParser()
        fill_parser(parser, described)
        options = {
            word: [str(choice) for choice in action.choices or ()] for action in parser._actions for word in action.option_strings
        }
        found[described.name] = (described.help.replace("%%", "%"), options)
    return found


def _bash(commands: dict[str, tuple[str, dict[str, list[str]]]]) -> str:
    lines = [
        f"# {PLACES['bash']}",
        "_dpaudit() {",
        '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words=""',
        "    if ((COMP_CWORD == 1)); then",
        f'        COMPREPLY=($(compgen -W "{" ".join(commands)} --help --version" -- "$word"))',
        "        return",
        "    fi",
        '    case "${COMP_WORDS[1]} $before" in',
    ]
    for name, (_, options) in commands.items():
        lines += [f'        "{name} {option}") words="{" ".join(values)}" ;;' for option, values in options.items() if values]
    lines += ["    esac", "    if [[ -z $words && $word == -* ]]; then", '        case "${COMP_WORDS[1]}" in']
    lines += [f'            {name}) words="{" ".join(options)}" ;;' for name, (_, options) in commands.items()]
    lines += [
        "        esac",
        "    fi",
        '    if [[ -n $words ]]; then COMPREPLY=($(compgen -W "$words" -- "$word"))',
        '    else COMPREPLY=($(compgen -f -- "$word")); fi',
        "}",
        "complete -o filenames -F _dpaudit dpaudit",
    ]
    return "\n".join(lines)


def _zsh(commands: dict[str, tuple[str, dict[str, list[str]]]]) -> str:
    lines = [
        "#compdef dpaudit",
        f"# {PLACES['zsh']}",
        "_dpaudit() {",
        "    local -a commands",
        "    commands=(",
        *(f"        {_quote(f'{name}:{help}')}" for name, (help, _) in commands.items()),
        "    )",
        "    if ((CURRENT == 2)); then _describe command commands; return; fi",
        '    case "$words[2] $words[CURRENT-1]" in',
    ]
    for name, (_, options) in commands.items():
        lines += [
            f'        "{name} {option}") compadd -- {" ".join(values)}; return ;;' for option, values in options.items() if values
        ]
    lines += ["    esac", "    if [[ $PREFIX == -* ]]; then", "        case $words[2] in"]
    lines += [f"            {name}) compadd -- {' '.join(options)} ;;" for name, (_, options) in commands.items()]
    lines += ["        esac", "    else _files; fi", "}", "compdef _dpaudit dpaudit"]
    return "\n".join(lines)


def _fish(commands: dict[str, tuple[str, dict[str, list[str]]]]) -> str:
    lines = [f"# {PLACES['fish']}"]
    for name, (help, options) in commands.items():
        lines.append(f"complete -c dpaudit -n __fish_use_subcommand -f -a {name} -d {_quote(help)}")
        for option, values in options.items():
            form = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            taken = f" -x -a {_quote(' '.join(values))}" if values else ""
            lines.append(f"complete -c dpaudit -n '__fish_seen_subcommand_from {name}' {form}{taken}")
    return "\n".join(lines)


def _quote(text: str) -> str:
    """In single quotes; every shell here ends and reopens them for one inside."""
    return "'" + text.replace("'", "'\\''") + "'"


def _add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("shell", metavar="|".join(SHELLS), choices=SHELLS)
    command.formatter_class = argparse.RawDescriptionHelpFormatter
    command.epilog = "\n".join(["to use it:", *(f"  {place}" for place in PLACES.values())])


COMMANDS = (
    Command("completion", "what bash, zsh or fish needs to complete commands and options", completion_command, _add_options),
)
