"""Runs programs, and checks that what they do is what our graphs and reaching definitions say they may.

For each frame, the set of positions in the graph at which it may be is followed from instruction to instruction.
There is always one, or the graph lacks a path. A step that no instruction belongs to is passed without being seen.
"""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass, field
from types import CodeType, FrameType
from typing import Any

from codelake.extract.control.graph import EXCEPTION, FALSE, TRUE

from .instructions import Instruction, Position, Program

Positions = frozenset[Position]


class Code:
    """One code object: its instructions, and how positions follow each other in its graph."""

    def __init__(self, program: Program, code: CodeType) -> None:
        self.program = program
        self.name = code.co_qualname
        self.scope = program.scope_of(code)
        self.instructions = program.instructions(code)
        self.entry = program.control.parts[self.scope][0]
        shown = {step for i in self.instructions if i.is_evidence and i.opname != "NOP" for step in i.steps}
        nodes, steps = program.tree.nodes, program.steps
        self.seen = {(b, done) for b, done in shown if not isinstance(nodes[steps[b][done - 1]], ast.Constant)}
        """Steps that an instruction always shows. Where the compiler copies a `finally`, one copy may do without a
        NOP or a constant that another has."""
        self.next: dict[tuple[Positions, Instruction, str], Positions] = {}
        self.reachable: dict[tuple[Position, str], Positions] = {}
        names = program.names
        self.parameters = {}
        node = names.scope_nodes[self.scope]
        if hasattr(node, "args"):
            args = node.args
            for arg in (*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg):
                if arg is not None:
                    reference = names.stores[arg.at]
                    self.parameters[names.reference_symbols[reference]] = (reference,)

    def silent(self, start: Position, kind: str) -> Positions:
        """Positions that are reached without a step that an instruction would show, itself included. The first
        flow is not of another kind than `kind`, if that is true or false."""
        if (start, kind) not in self.reachable:
            found = {start}
            todo = [start]
            while todo:
                block, done = position = todo.pop()
                steps = self.program.steps.get(block, [])
                if done < len(steps):
                    after = [(block, done + 1)] if (block, done + 1) not in self.seen else []
                else:
                    unlike = {TRUE: FALSE, FALSE: TRUE}.get(kind if position == start else "")
                    flows = self.program.flows.get(block, [])
                    after = [(to, 0) for to, how in flows if how != EXCEPTION and how != unlike]
                todo += set(after) - found
                found |= set(after)
            self.reachable[start, kind] = frozenset(found)
        return self.reachable[start, kind]

    def all_silent(self, positions: Positions) -> Positions:
        return frozenset(p for start in positions for p in self.silent(start, ""))

    def after(self, positions: Positions, instruction: Instruction, kind: str) -> Positions:
        key = positions, instruction, kind
        if key not in self.next:
            found = set()
            for start in positions:
                silent = self.silent(start, kind)
                found |= {s for s in instruction.steps if s == start or (s[0], s[1] - 1) in silent}
            self.next[key] = frozenset(found)
        return self.next[key]

    def raised(self, positions: Positions) -> Positions:
        """Where an exception goes to."""
        flows = self.program.flows
        return frozenset((to, 0) for block, _ in positions for to, how in flows.get(block, ()) if how == EXCEPTION)


@dataclass(slots=True)
class Frame:
    code: Code
    positions: Positions
    is_raising: bool = False
    last: Instruction | None = None
    holds: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """By symbol, the references that may have been the last to store it."""
    outcome: bool | None = None


class Tracer:
    """Follows all frames of programs that were added."""

    def __init__(self) -> None:
        self.programs: dict[str, Program] = {}
        self.codes: dict[tuple[str, CodeType], Code] = {}  # code of two files may be equal
        self.frames: dict[FrameType, Frame] = {}
        self.n_steps = self.n_definitions = self.n_exceptions = self.n_decisions = 0
        self.failures: list[str] = []

    def program(self, source: str, filename: str) -> Program:
        made = self.programs[filename] = Program(source, filename)
        return made

    def forget(self, filename: str) -> None:
        """A program that will not run again."""
        del self.programs[filename]
        self.codes.clear()
        self.frames.clear()

    def decide(self, frame: FrameType, outcome: bool) -> None:
        """A call in a frame gave a truth value."""
        if frame in self.frames:
            self.frames[frame].outcome = outcome

    def start(self) -> None:
        sys.settrace(self._call)

    def stop(self) -> None:
        sys.settrace(None)

    def _call(self, frame: FrameType, event: str, arg: Any) -> Any:
        program = self.programs.get(frame.f_code.co_filename)
        if program is None or event != "call":
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        if frame not in self.frames:
            key = frame.f_code.co_filename, frame.f_code
            code = self.codes.get(key)
            if code is None:
                try:
                    code = self.codes[key] = Code(program, frame.f_code)
                except Exception as error:
                    self.failures.append(f"{frame.f_code.co_qualname}: {error!r}")  # a tracer's own are easy to miss
                    raise
            self.frames[frame] = Frame(code, frozenset({(code.entry, 0)}), holds=dict(code.parameters))
        return self._event

    def _event(self, frame: FrameType, event: str, arg: Any) -> Any:
        state = self.frames.get(frame)
        if state is None:
            return None
        if event == "opcode":
            instruction = state.code.instructions[frame.f_lasti // 2]
            state.last = instruction
            if instruction.is_evidence:
                self._step(state, instruction)
            if instruction.is_reraise:
                self._raise(state, instruction)
            if instruction.symbol >= 0:
                self._name(state, instruction)
        elif event == "exception":
            self._exception(frame, state, arg)
        elif event == "return":
            self._return(frame, state)
        return self._event

    def _step(self, state: Frame, instruction: Instruction) -> None:
        kind = ""
        if state.outcome is not None:
            kind = self._kind(state)
            state.outcome = None
        found = state.code.after(state.positions, instruction, kind)
        if not found and instruction.opname == "NOP":
            return  # the compiler falls through one that it should jump over: nothing is done either way
        self.n_steps += 1
        if not found:
            self._fail(state, f"no path to {instruction.opname} {self._show(state, instruction)}")
            found = instruction.steps
        state.positions = found
        state.is_raising = False

    def _kind(self, state: Frame) -> str:
        """By which kind of flow the frame leaves its position, whose step is a call that gave `outcome`."""
        program = state.code.program
        if len(state.positions) != 1:
            return ""
        ((block, done),) = state.positions
        steps = program.steps.get(block, [])
        if done != len(steps) or not done:
            return ""
        shown = program.shown(steps[-1])
        above = program.tree.nodes[program.tree.parents[steps[-1]]]
        if shown not in ("c()", "not c()") or isinstance(above, ast.Compare):
            return ""
        self.n_decisions += 1
        return TRUE if state.outcome is (shown == "c()") else FALSE

    def _exception(self, frame: FrameType, state: Frame, arg: Any) -> None:
        instruction = state.code.instructions[frame.f_lasti // 2] if frame.f_lasti >= 0 else None
        if instruction is not None:
            if issubclass(arg[0], StopIteration) and instruction.opname in ("FOR_ITER", "SEND"):
                return
            if issubclass(arg[0], StopAsyncIteration) and instruction.is_loop:
                return
        self.n_exceptions += 1
        self._raise(state, instruction)

    def _raise(self, state: Frame, instruction: Instruction | None) -> None:
        start = state.positions
        if instruction is None or not instruction.is_evidence:
            start = state.code.all_silent(start)
        found = state.code.raised(start)
        if state.is_raising:
            found |= state.positions  # CPython raises again on its own account, to clean up
        if not found:
            self._fail(state, f"no path for an exception in {self._show(state, instruction)}")
        state.positions = found or state.positions
        state.is_raising = True
        state.outcome = None

    def _return(self, frame: FrameType, state: Frame) -> None:
        last = state.last
        is_end = last is not None and last.opname == "RETURN_VALUE"
        if not is_end and not state.is_raising:
            return  # it is to be resumed
        del self.frames[frame]
        wanted = state.code.entry + (1 if is_end else 2)
        if (wanted, 0) not in state.code.all_silent(state.positions):
            self._fail(state, "no path to the end" if is_end else "no path out by an exception")

    def _name(self, state: Frame, instruction: Instruction) -> None:
        symbol = instruction.symbol
        if instruction.stores is not None:
            if instruction.stores:
                state.holds[symbol] = instruction.stores
            else:
                state.holds.pop(symbol, None)  # at the end of a handler
            return
        use = instruction.loads if instruction.deletes is None else instruction.deletes
        held = state.holds.get(symbol)
        if held is not None and use is not None and use >= 0:
            self.n_definitions += 1
            if not any((definition, use) in state.code.program.reaches for definition in held):
                self._fail(state, f"{held} does not reach {use} {self._show(state, instruction)}")
        if instruction.deletes is not None:
            state.holds.pop(symbol, None)

    def _show(self, state: Frame, instruction: Instruction | None) -> str:
        return "its start" if instruction is None else state.code.program.shown(instruction.node)

    def _fail(self, state: Frame, message: str) -> None:
        program = state.code.program
        at = [
            f"{block}:{program.shown(program.steps[block][done - 1]) if done else ''}"
            for block, done in state.positions
        ]
        self.failures.append(f"{state.code.name}: {message}; at {at}")
