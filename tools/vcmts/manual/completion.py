# SPDX-License-Identifier: BSD-3-Clause
"""vcmts completion: prints completion scripts for bash, zsh and fish, which start no program.

All three determine the command from the words so far. They complete the value of the option before
the cursor, else options or sub-commands.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Mapping

from vcmts.manual import programs
from vcmts.manual.commands import Command, Option, every
from vcmts.paths import TOOL, MistakeError, program

# REUSE-IgnoreStart
HEAD = "# SPDX-License-Identifier: BSD-3-Clause\n# Generated from the help of the programs.\n"
# REUSE-IgnoreEnd


def quoted(text: str) -> str:
    """Quotes text for bash and zsh."""
    return "'" + text.replace("'", "'\\''") + "'"


def short(text: str) -> str:
    """Shortens a help text for display beside a word."""
    return re.split(r"[;:(]| as ", text)[0].strip().replace("`", "")[:80]


def named(command: Command) -> Iterator[Option]:
    return (option for option in command.options if option.names)


def command_paths(root: Command) -> list[str]:
    """Full names of all commands below the root."""
    return [command.name for command in every(root) if command is not root]


def values(root: Command) -> Iterator[tuple[str, Option]]:
    """Options with values, each with a case pattern of its command and names."""
    for command in every(root):
        for option in named(command):
            if option.value:
                yield " | ".join(quoted(f"{command.name} {name}") for name in option.names), option


def positional(command: Command) -> tuple[str, ...]:
    found = (option.choices for option in command.options if not option.names)
    return next(found, ())


def option_words(command: Command) -> str:
    return " ".join(name for option in named(command) for name in option.names) + " --help"


BASH = """{licence}_{id}() {{
	local typed={name} word=${{COMP_WORDS[COMP_CWORD]}} i=1
	local before=${{COMP_WORDS[COMP_CWORD - 1]}} options= words= files=
	COMPREPLY=()
	if [ "$word" = = ]; then
		word=
	elif [ "$before" = = ]; then
		before=${{COMP_WORDS[COMP_CWORD - 2]}}
	fi
	for ((; i < COMP_CWORD; i++)); do
		case "$typed ${{COMP_WORDS[i]}}" in
		{commands}) typed="$typed ${{COMP_WORDS[i]}}" ;;
		esac
	done
	case "$typed $before" in
{values}	*)
		files=1
		case $typed in
{words}		esac
		;;
	esac
	[[ $word != -* ]] || words=$options
	[ -z "$words" ] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
	[ -z "$files" ] || [[ $word == -* ]] || {{
		compopt -o filenames
		mapfile -t -O "${{#COMPREPLY[@]}}" COMPREPLY < <(compgen -f -- "$word")
	}}
}}
complete -F _{id} {name}
"""


def bash(root: Command) -> str:
    cases = ""
    for path, option in values(root):
        given = f"words={quoted(' '.join(option.choices))}" if option.choices else ""
        cases += f"\t{path}) {given or ('files=1' if option.takes_file else ':')} ;;\n"
    given = ""
    for command in every(root):
        parts = [part.name.rpartition(" ")[2] for part in command.parts]
        offered = " ".join(parts or positional(command))
        given += f"\t\t{quoted(command.name)}) options={quoted(option_words(command))}"
        given += f" words={quoted(offered)} files=" if offered else ""
        given += " ;;\n"
    commands = " | ".join(map(quoted, command_paths(root))) or "''"
    return BASH.format(
        licence=HEAD,
        id=root.name.replace("-", "_"),
        name=root.name,
        commands=commands,
        values=cases,
        words=given,
    )


ZSH = """#compdef {name}
{licence}local typed={name} before=${{words[CURRENT - 1]}} i
local -a options parts
for ((i = 2; i < CURRENT; i++)); do
	case "$typed ${{words[i]}}" in
	({commands}) typed="$typed ${{words[i]}}" ;;
	esac
done
case "$typed $before" in
{values}esac
case $typed in
{words}esac
if [[ ${{words[CURRENT]}} == -* ]]; then
	_describe option options
elif (( $#parts )); then
	_describe command parts
else
	_files
fi
"""


def completion_entry(word: str, text: str) -> str:
    escaped = word.replace(":", "\\:")
    return quoted(f"{escaped}:{short(text)}") if text else quoted(escaped)


def zsh(root: Command) -> str:
    cases = ""
    for path, option in values(root):
        given = f"compadd -- {' '.join(map(quoted, option.choices))}"
        nothing = f"_message {quoted(option.value)}"
        cases += f"({path}) "
        cases += given if option.choices else "_files" if option.takes_file else nothing
        cases += "; return ;;\n"
    given = ""
    for command in every(root):
        shown = [completion_entry(n, o.text) for o in named(command) for n in o.names]
        parts = [
            completion_entry(part.name.rpartition(" ")[2], part.text) for part in command.parts
        ]
        parts += [quoted(choice) for choice in positional(command)]
        given += f"({quoted(command.name)})\n\toptions=({' '.join(shown)} --help)\n"
        given += f"\tparts=({' '.join(parts)}) ;;\n"
    commands = " | ".join(map(quoted, command_paths(root))) or "''"
    return ZSH.format(name=root.name, licence=HEAD, commands=commands, values=cases, words=given)


FISH = """{licence}function __{id}_command
    set -l command {name}
    for word in (commandline -opc)[2..-1]
        if contains -- "$command $word" {commands}
            set command "$command $word"
        end
    end
    echo $command
end
complete -c {name} -l help -d 'print this help'
"""


def fish_text(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def fish_option(option: Option) -> str:
    shown = ""
    for name in option.names:
        shown += f" -l {name[2:]}" if name.startswith("--") else f" -s {name[1:]}"
    if option.value:
        shown += " -r" if option.takes_file else " -x"
    if option.choices:
        shown += f" -a {fish_text(' '.join(option.choices))}"
    return f"{shown} -d {fish_text(short(option.text))}"


def fish(root: Command) -> str:
    marker = root.name.replace("-", "_")
    commands = " ".join(map(fish_text, command_paths(root)))
    shown = FISH.format(licence=HEAD, id=marker, name=root.name, commands=commands)
    for command in every(root):
        at = f'test (__{marker}_command) = "{command.name}"'
        line = f"complete -c {root.name} -n {fish_text(at)}"
        for part in command.parts:
            word = part.name.rpartition(" ")[2]
            shown += f"{line} -f -a {word} -d {fish_text(short(part.text))}\n"
        if positional(command):
            shown += f"{line} -f -a {fish_text(' '.join(positional(command)))}\n"
        for option in named(command):
            shown += f"{line}{fish_option(option)}\n"
    return shown


SHELLS: Mapping[str, Callable[[Command], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
EPILOG = f"""In the shell of this terminal:
  source <({TOOL} completion bash)      # zsh: with zsh in place of bash
  {TOOL} completion fish | source

In each new shell (bash needs the package bash-completion):
  {TOOL} completion bash > ~/.local/share/bash-completion/completions/vcmts
  {TOOL} completion fish > ~/.config/fish/completions/vcmts.fish
  {TOOL} completion zsh > ~/.zsh-vcmts; echo 'source ~/.zsh-vcmts' >> ~/.zshrc

Packages install completion for all three shells.
"""
LOAD_ZSH = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }\n"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("shell", metavar="SHELL", choices=SHELLS, help="bash, zsh or fish")


def built_programs() -> list[Command]:
    """The tool, and the C programs if they are built."""
    try:
        others = programs.others(program("vcmtsd"), program("vcmts-traffic"))
    except MistakeError:
        others = {}
    return [programs.tool(), *others.values()]


def sourced_zsh(root: Command) -> str:
    """The script as a function, as zsh() is the body of an autoloaded function."""
    name = root.name
    return f"_{name}() {{\n{zsh(root)}}}\ncompdef _{name} {name}\n"


def script(shell: str, roots: list[Command]) -> str:
    """A script to source, with the completion of all `roots`."""
    if shell == "zsh":
        return LOAD_ZSH + "".join(map(sourced_zsh, roots))
    return "".join(map(SHELLS[shell], roots))


def main(arguments: argparse.Namespace) -> int:
    sys.stdout.write(script(arguments.shell, built_programs()))
    return 0
