# SPDX-License-Identifier: BSD-3-Clause
"""Applies and undoes a plan step by step. The journal on disk records each step beforehand."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from host.prepare import cards as host_cards
from host.prepare import journal as host_journal
from host.prepare.allowed import check_allowed, guarded_now
from host.prepare.card_steps import changed_card, check_undo
from host.prepare.journal import Entry, Journal
from host.prepare.plan import Plan
from host.prepare.stepping import KINDS, check_known, steps
from host.prepare.steps import GoneError, LeftError, Step, refresh, step_of
from host.prepare.system import NEW, StepError, System, missing_folders
from vcmts.paths import MistakeError

Print = Callable[[str], None]


@contextmanager
def as_step_error(step: Step) -> Iterator[None]:
    """Converts errors of the system to a StepError that names the step."""
    try:
        yield
    except GoneError as error:
        raise StepError(f"{step.what}: {error}") from error
    except OSError as error:
        raise StepError(f"{step.what}: {error.strerror or error}") from error


def changed_by_others(step: Step, now: Any) -> str:
    shown = now.get("driver", now) if isinstance(now, dict) and "text" not in now else now
    found = "" if isinstance(now, dict) and "text" in now else f" (found {shown})"
    return f"{step.what}: another program changed it meanwhile{found}"


def revert_refused(journal: Journal, entry: Entry, step: Step) -> None:
    """Records a refused step that changed nothing as undone, and removes its folders."""
    if entry.done or KINDS[step.kind].state(journal.system, step) != entry.before:
        return
    if step.kind == "file":
        with suppress(OSError):
            journal.system.remove(step.target + NEW)
    for folder in reversed(entry.made):
        journal.system.remove_folder(folder)
    journal.record_undone(entry)


def change_and_record(journal: Journal, entry: Entry, step: Step, now: Any) -> None:
    system, kind = journal.system, KINDS[step.kind]
    try:
        for folder in entry.made:
            system.make_folder(folder)
        kind.change(system, step, now)
    except (StepError, GoneError, OSError):
        with suppress(StepError, GoneError, OSError):
            revert_refused(journal, entry, step)
        raise
    refresh(system, step.refresh)
    journal.record_done(entry)


def finish_reached(journal: Journal, entry: Entry | None, step: Step) -> None:
    """Completes the journal entry of a step whose target has the planned state."""
    if entry is not None and not entry.done:
        refresh(journal.system, step.refresh)
        journal.record_done(entry)


def mark_created(journal: Journal, step: Step) -> Step:
    """Sets `made` if the step's virtual function was created by the plan: undo removes it with
    all functions of its card. Undo restores the settings of any other function."""
    card, slash, _ = step.target.partition("/")
    made = slash and changed_card(step) and journal.entry(("functions", card)) is not None
    return replace(step, made=bool(made))


def apply_step(journal: Journal, step: Step, say: Print, *, later: bool = False) -> bool:
    """Applies a step unless its target has the planned state. Returns whether it changed something.

    `later`: only records the step, which vcmts-host.service applies at the next boot.
    """
    system, kind = journal.system, KINDS[step.kind]
    step = mark_created(journal, step)
    with as_step_error(step):
        now = kind.state(system, step)
        entry = journal.entry((step.kind, step.target))
        if kind.reached(step, now):
            finish_reached(journal, entry, step)
            return False
        if entry is not None and not kind.ours(step, now, entry.before):
            raise StepError(f"{changed_by_others(step, now)}; run `vcmts host undo` first")
        if entry is None:
            made = missing_folders(system, step.target) if step.kind == "file" else []
            entry = journal.record_begun(step.stored(), now, made, later=later)
            if later:
                say(f"after the reboot: {step.what}")
        if later:
            return False
        change_and_record(journal, entry, step, now)
    say(f"done: {step.what}")
    return True


def check_same_plan(journal: Journal, plan: Plan) -> None:
    if journal.open_entries() and journal.plan != plan.digest():
        raise MistakeError("another plan is applied: run `vcmts host undo` first")


def needs_restart(system: System, plan: Plan, step: Step) -> bool:
    """Whether a step must wait for the reboot: VFIO cannot bind devices without an IOMMU."""
    can_bind = plan.no_iommu or host_cards.iommu(system.files)
    return not can_bind and step.kind in ("module", "binding")


def apply(system: System, plan: Plan, say: Print) -> int:
    """Applies all steps of a plan. Returns how many changed something.

    Raises MistakeError before the first step, StepError during the steps.
    """
    check_allowed(system, plan)
    check_same_plan(host_journal.read(system), plan)
    with host_journal.open_journal(system, plan.digest()) as journal:
        check_same_plan(journal, plan)
        listed = steps(system, plan)
        return sum(
            [
                apply_step(journal, step, say, later=needs_restart(system, plan, step))
                for step in listed
            ]
        )


def dry_run(system: System, plan: Plan, say: Print) -> int:
    """Returns how many steps would change something; changes nothing."""
    check_allowed(system, plan)
    check_same_plan(host_journal.read(system), plan)
    count = 0
    for step in steps(system, plan):
        try:
            with as_step_error(step):
                reached = KINDS[step.kind].reached(step, KINDS[step.kind].state(system, step))
        except StepError:
            reached = False  # an earlier step creates its target
        later = needs_restart(system, plan, step)
        count += not (reached or later)
        word = "already set" if reached else "after the reboot" if later else "would set"
        say(f"{word}: {step.what}")
    return count


def restore_state(system: System, entry: Entry, step: Step, never: dict[str, str]) -> str:
    """Restores the state before a step. Returns "", or why the target keeps its present state."""
    kind = KINDS[step.kind]
    try:
        now = kind.state(system, step)
    except GoneError:
        now = entry.before  # the target does not exist any more
    if now != entry.before:
        if not kind.ours(step, now, entry.before):
            return changed_by_others(step, now)
        if changed_card(step) in never:
            return f"{step.what}: its card must not be changed now: {never[changed_card(step)]}"
        kind.restore(system, step, entry.before)
    if step.kind == "file":
        system.remove(step.target + NEW)
        for folder in reversed(entry.made):
            system.remove_folder(folder)
    refresh(system, step.refresh)
    return ""


def undo_step(system: System, entry: Entry, never: dict[str, str]) -> str:
    """Undoes one step. Returns "", or why it failed; other steps can still be undone."""
    step = step_of(entry.step)
    try:
        return restore_state(system, entry, step, never)
    except (StepError, LeftError, GoneError) as error:
        return f"{step.what}: {error}"
    except OSError as error:
        return f"{step.what}: {error.strerror or error}"


def function_left(step: Step, left: set[str]) -> str:
    """Returns why a card keeps its functions: one of them is still bound. Else ""."""
    if step.kind in ("functions", "interface") and step.target in left:
        return f"{step.what}: one of its functions is still bound to a driver"
    return ""


def undo(system: System, say: Print, *, forget: bool = False) -> int:
    """Undoes all steps in reverse order. Returns how many are left, because another program changed
    their targets or the system refused. `forget`: removes those from the journal."""
    if not system.path(host_journal.PATH).exists():
        system.remove_folder(host_journal.FOLDER)
        say("no plan is applied")
        return 0
    left = 0
    with host_journal.open_journal(system) as journal:
        never = guarded_now(system)
        for entry in journal.open_entries():
            step = step_of(entry.step)
            check_known(step, entry)
            check_undo(system, step)
        cards: set[str] = set()  # cards with a function that is still bound
        for entry in reversed(journal.open_entries()):
            step = step_of(entry.step)
            why = function_left(step, cards.difference(never)) or undo_step(system, entry, never)
            if why and step.kind == "binding":
                cards.add(changed_card(step))
            if forget or not why:
                with as_step_error(step):
                    journal.record_undone(entry)
            say(f"left: {why}" if why else f"undone: {step.what}")
            left += bool(why) and not forget
        if not left:
            host_journal.remove(journal)
    return left
