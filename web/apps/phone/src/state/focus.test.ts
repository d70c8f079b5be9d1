import type { Question } from "@reflecto/core";
import { expect, test } from "vitest";
import { NOW, questionOf } from "../items/items.testing.ts";
import { chosenFocus, focusAt, NO_FOCUS, neighbourOf } from "./focus.ts";

const asked = (id: string, changes: Partial<Question> = {}) =>
  questionOf(`${id}?`, undefined, { id, key: `interaction:${id}`, ...changes });
const FIRST = asked("first");
const SECOND = asked("second");
const DONE = asked("first", { phase: "sent", choiceIndex: 0 });

test("without a focus it is the one that ends first", () => {
  expect(focusAt(NO_FOCUS, [FIRST, SECOND], [SECOND, FIRST], NOW)).toEqual({ id: "second", doneAt: null });
  expect(focusAt(NO_FOCUS, [DONE], [], NOW)).toEqual(NO_FOCUS);
});

test("it stays where the person looks, whatever more urgent comes", () => {
  const focus = { id: "first", doneAt: null };
  expect(focusAt(focus, [FIRST, SECOND], [SECOND, FIRST], NOW)).toEqual(focus);
});

test("what became of it is there to be read for three seconds, then the next one comes", () => {
  const done = focusAt({ id: "first", doneAt: null }, [DONE, SECOND], [SECOND], NOW);
  expect(done).toEqual({ id: "first", doneAt: NOW });
  expect(focusAt(done, [DONE, SECOND], [SECOND], NOW + 2.9).id).toBe("first");
  expect(focusAt(done, [DONE, SECOND], [SECOND], NOW + 3)).toEqual({ id: "second", doneAt: null });
});

test("where nothing else waits, the last one stays with what became of it", () => {
  const focus = { id: "first", doneAt: NOW };
  expect(focusAt(focus, [DONE], [], NOW + 600)).toEqual(focus);
});

test("a question that waits again after a wrong number is no longer done", () => {
  expect(focusAt({ id: "first", doneAt: NOW }, [FIRST], [FIRST], NOW + 9)).toEqual({ id: "first", doneAt: null });
});

test("one that was over when the person chose it stays until they choose another", () => {
  const focus = chosenFocus("first", [DONE, SECOND]);
  expect(focusAt(focus, [DONE, SECOND], [SECOND], NOW + 999).id).toBe("first");
  expect(chosenFocus("second", [DONE, SECOND])).toEqual({ id: "second", doneAt: null });
});

test("next and previous go round through those that wait", () => {
  const third = asked("third");
  const waiting = [FIRST, SECOND, third];
  expect(neighbourOf("first", waiting, 1)).toBe("second");
  expect(neighbourOf("third", waiting, 1)).toBe("first");
  expect(neighbourOf("first", waiting, -1)).toBe("third");
  expect(neighbourOf("over", waiting, 1)).toBe("first");
  expect(neighbourOf("over", waiting, -1)).toBe("third");
  expect(neighbourOf("first", [FIRST], 1)).toBeNull();
  expect(neighbourOf("over", [FIRST], 1)).toBe("first");
});
