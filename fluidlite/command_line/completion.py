"""The command ``fluidlite completion``: words that a shell completes behind ``fluidlite``, derived
from the command's own parser.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple

from ..errors import UsageError
from ..ground.console import say
from .cli import command_parser


def add_completion(parser: argparse.ArgumentParser) -> None:
    """Say what ``fluidlite completion`` takes."""
    parser.description = (
        'Print what completes these words. In ~/.bashrc: eval "$(fluidlite completion '
        'bash)"; the same with zsh; for fish: fluidlite completion fish > '
        "~/.config/fish/completions/fluidlite.fish."
    )
    parser.add_argument("shell", choices=[*SHELLS], help="which shell reads it")
    parser.set_defaults(run=_completion)


def _completion(given: argparse.Namespace) -> None:
    say(script(given.shell, command_parser()), end="")


class Command(NamedTuple):
    """A sub-command, as a shell knows it."""

    name: str
    about: str
    options: tuple[tuple[str, str], ...]  #: and what each does
    choices: tuple[tuple[str, tuple[str, ...]], ...]  #: what stands behind an option, or first


def commands_of(parser: argparse.ArgumentParser) -> list[Command]:
    """The sub-commands of a parser.

    Args:
        parser: has sub-commands.
    """
    (inner,) = (each for each in parser._actions if isinstance(each, argparse._SubParsersAction))
    abouts = {each.dest: each.help or "" for each in inner._choices_actions}
    return [
        Command(name, abouts.get(name, ""), *_words(each)) for name, each in inner.choices.items()
    ]


def _words(
    parser: argparse.ArgumentParser,
) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, tuple[str, ...]], ...]]:
    actions = parser._actions
    options = [(word, each.help or "") for each in actions for word in each.option_strings]
    choices = [
        (word, tuple(map(str, each.choices)))
        for each in actions
        if each.choices
        for word in each.option_strings or ("",)
    ]
    return tuple(options), tuple(choices)


def script(shell: str, parser: argparse.ArgumentParser) -> str:
    """What a shell reads to complete the command's words; where none fits, names of files.

    Args:
        shell: "bash", "zsh" or "fish".
        parser: of the command.

    Raises:
        UsageError: another shell.
    """
    if shell not in SHELLS:
        raise UsageError(f"expected {', '.join(SHELLS)}, got {shell!r}")
    return SHELLS[shell](parser.prog, commands_of(parser))


def _bash(program: str, commands: list[Command]) -> str:
    cases = [
        f'    "{each.name} {option}") words="{" ".join(choices)}" ;;'
        for each in commands
        for option, choices in each.choices
        if option
    ]
    for command in commands:
        words = [option for option, _ in command.options]
        words += [word for option, choices in command.choices if not option for word in choices]
        cases.append(f'    "{command.name} "*) words="{" ".join(words)}" ;;')
    names = " ".join(each.name for each in commands)
    return "\n".join(
        [
            f"_{program}() {{",
            '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"',
            '  local words=""',
            "  if [ $COMP_CWORD -eq 1 ]; then",
            f'    words="{names} --help --version"',
            '  else case "${COMP_WORDS[1]} $before" in',
            *cases,
            "  esac; fi",
            '  COMPREPLY=($(compgen -W "$words" -- "$word"))',
            "}",
            f"complete -o default -F _{program} {program}",
            "",
        ]
    )


def _zsh(program: str, commands: list[Command]) -> str:
    """Bash's completion, which zsh can read."""
    return "\n".join(
        [
            f"#compdef {program}",
            "autoload -U +X compinit bashcompinit",
            "(( $+functions[compdef] )) || compinit",
            "bashcompinit",
            _bash(program, commands),
        ]
    )


def _fish(program: str, commands: list[Command]) -> str:
    lines = []
    for command in commands:
        first = f"complete -c {program} -n __fish_use_subcommand -f"
        lines.append(f"{first} -a {command.name} -d {_quoted(command.about)}")
        inside = f"complete -c {program} -n '__fish_seen_subcommand_from {command.name}'"
        choices = dict(command.choices)
        for option, about in command.options:
            kind = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            values = f" -x -a '{' '.join(choices[option])}'" if option in choices else ""
            lines.append(f"{inside} {kind}{values} -d {_quoted(about)}")
        if "" in choices:
            lines.append(f"{inside} -f -a '{' '.join(choices[''])}'")
    return "\n".join([*lines, ""])


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


#: shell -> what writes its script
SHELLS: dict[str, Callable[[str, list[Command]], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
