# SPDX-License-Identifier: BSD-3-Clause
"""A plan carried out, and taken back: each step on the disk's journal before it is made."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from host.prepare import cards as host_cards
from host.prepare import journal as host_journal
from host.prepare.allowed import allowed, untouched
from host.prepare.card_steps import card_of, free_to_undo
from host.prepare.journal import Entry, Journal
from host.prepare.plan import Plan
from host.prepare.stepping import KINDS, known, steps
from host.prepare.steps import GoneError, LeftError, Step, refresh, step_of
from host.prepare.system import NEW, StepError, System, missing_folders
from vcmts.paths import MistakeError

Say = Callable[[str], None]


@contextmanager
def told(step: Step) -> Iterator[None]:
    """What the system refuses as one line about that step."""
    try:
        yield
    except GoneError as error:
        raise StepError(f"{step.what}: {error}") from error
    except OSError as error:
        raise StepError(f"{step.what}: {error.strerror or error}") from error


def somebody_else(step: Step, now: Any) -> str:
    shown = now.get("driver", now) if isinstance(now, dict) and "text" not in now else now
    found = "" if isinstance(now, dict) and "text" in now else f" (found {shown})"
    return f"{step.what}: somebody else changed it meanwhile{found}"


def given_up(journal: Journal, entry: Entry, step: Step) -> None:
    """A step that was refused and changed nothing is as if it had not been begun: who then takes
    away what was in its way has changed nothing of ours."""
    if entry.done or KINDS[step.kind].state(journal.system, step) != entry.before:
        return
    if step.kind == "file":
        with suppress(OSError):
            journal.system.remove(step.target + NEW)
    for folder in reversed(entry.made):
        journal.system.remove_folder(folder)
    journal.took_back(entry)


def changed(journal: Journal, entry: Entry, step: Step, now: Any) -> None:
    system, kind = journal.system, KINDS[step.kind]
    try:
        for folder in entry.made:
            system.make_folder(folder)
        kind.change(system, step, now)
    except (StepError, GoneError, OSError):
        with suppress(StepError, GoneError, OSError):
            given_up(journal, entry, step)
        raise
    refresh(system, step.refresh)
    journal.finished(entry)


def settled(journal: Journal, entry: Entry | None, step: Step) -> None:
    """It is as it is wanted: what was begun of it is finished."""
    if entry is not None and not entry.done:
        refresh(journal.system, step.refresh)
        journal.finished(entry)


def made_by_us(journal: Journal, step: Step) -> Step:
    """A function goes with its card's others where we made them; one that was there before is made
    again what it was."""
    card, slash, _ = step.target.partition("/")
    made = slash and card_of(step) and journal.entry(("functions", card)) is not None
    return replace(step, made=bool(made))


def make(journal: Journal, step: Step, say: Say, *, later: bool = False) -> bool:
    """One step, if it is not so already: True where something was changed. `later`: the service
    will, at the next start; only what is there before is written down."""
    system, kind = journal.system, KINDS[step.kind]
    step = made_by_us(journal, step)
    with told(step):
        now = kind.state(system, step)
        entry = journal.entry((step.kind, step.target))
        if kind.reached(step, now):
            settled(journal, entry, step)
            return False
        if entry is not None and not kind.ours(step, now, entry.before):
            raise StepError(f"{somebody_else(step, now)}; `vcmts host undo` first")
        if entry is None:
            made = missing_folders(system, step.target) if step.kind == "file" else []
            entry = journal.began(step.stored(), now, made, later=later)
            if later:
                say(f"after the restart: {step.what}")
        if later:
            return False
        changed(journal, entry, step, now)
    say(f"done: {step.what}")
    return True


def of_this_plan(journal: Journal, plan: Plan) -> None:
    if journal.open_entries() and journal.plan != plan.digest():
        raise MistakeError("another plan is applied here: `vcmts host undo` takes it back first")


def waits(system: System, plan: Plan, step: Step) -> bool:
    """Whether a step can be made after the restart only: without an IOMMU VFIO takes nothing."""
    can_bind = plan.no_iommu or host_cards.iommu(system.files)
    return not can_bind and step.kind in ("module", "binding")


def apply(system: System, plan: Plan, say: Say) -> int:
    """How many steps changed something. Raises MistakeError before the first, StepError after."""
    allowed(system, plan)
    of_this_plan(host_journal.read(system), plan)
    with host_journal.opened(system, plan.digest()) as journal:
        of_this_plan(journal, plan)
        listed = steps(system, plan)
        return sum([make(journal, step, say, later=waits(system, plan, step)) for step in listed])


def rehearse(system: System, plan: Plan, say: Say) -> int:
    """How many steps would change something; changes nothing."""
    allowed(system, plan)
    of_this_plan(host_journal.read(system), plan)
    count = 0
    for step in steps(system, plan):
        try:
            with told(step):
                reached = KINDS[step.kind].reached(step, KINDS[step.kind].state(system, step))
        except StepError:
            reached = False  # what it is about is made by a step before it
        later = waits(system, plan, step)
        count += not (reached or later)
        word = "is so" if reached else "after the restart" if later else "would do"
        say(f"{word}: {step.what}")
    return count


def made_again(system: System, entry: Entry, step: Step, never: dict[str, str]) -> str:
    """What it was before; else why it is left as it is. Raises all that a system may."""
    kind = KINDS[step.kind]
    try:
        now = kind.state(system, step)
    except GoneError:
        now = entry.before  # with what it was about
    if now != entry.before:
        if not kind.ours(step, now, entry.before):
            return somebody_else(step, now)
        if card_of(step) in never:
            return f"{step.what}: not touched now: {never[card_of(step)]}"
        kind.restore(system, step, entry.before)
    if step.kind == "file":
        system.remove(step.target + NEW)
        for folder in reversed(entry.made):
            system.remove_folder(folder)
    refresh(system, step.refresh)
    return ""


def take_back(system: System, entry: Entry, never: dict[str, str]) -> str:
    """One step; "" where it is what it was, else why not: all else can be undone."""
    step = step_of(entry.step)
    try:
        return made_again(system, entry, step, never)
    except (StepError, LeftError, GoneError) as error:
        return f"{step.what}: {error}"
    except OSError as error:
        return f"{step.what}: {error.strerror or error}"


def of_left_function(step: Step, left: set[str]) -> str:
    """Why a step stays for a function of that card whose driver is left: it would go with it."""
    if step.kind in ("functions", "interface") and step.target in left:
        return f"{step.what}: a function of it is left with its driver"
    return ""


def undo(system: System, say: Say, *, forget: bool = False) -> int:
    """How many steps are left: others changed them, or the machine refuses. `forget`: they are no
    longer ours."""
    if not system.path(host_journal.PLACE).exists():
        system.remove_folder(host_journal.FOLDER)
        say("nothing is applied here")
        return 0
    left = 0
    with host_journal.opened(system) as journal:
        never = untouched(system)
        for entry in journal.open_entries():
            step = step_of(entry.step)
            known(step, entry)
            free_to_undo(system, step)
        cards: set[str] = set()  # of which a function is left
        for entry in reversed(journal.open_entries()):
            step = step_of(entry.step)
            why = of_left_function(step, cards.difference(never)) or take_back(system, entry, never)
            if why and step.kind == "binding":
                cards.add(card_of(step))
            if forget or not why:
                with told(step):
                    journal.took_back(entry)
            say(f"left: {why}" if why else f"undone: {step.what}")
            left += bool(why) and not forget
        if not left:
            host_journal.removed(journal)
    return left
