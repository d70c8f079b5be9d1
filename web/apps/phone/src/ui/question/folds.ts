/** Which folded parts of a question were opened: the words beside the buttons say how many were not. */

import { briefOf, type Question } from "@reflecto/core";
import { createContext } from "preact";
import { useContext, useMemo, useState } from "preact/hooks";
import { foldCount, readDiff } from "../../items/diff.ts";

export interface Folds {
  areAllOpen: boolean;
  noteOpened: () => void;
}

export const FoldsContext = createContext<Folds>({ areAllOpen: false, noteOpened: () => undefined });

export function useFolds(): Folds {
  return useContext(FoldsContext);
}

/** Of one question: what its parts need, and how many are still folded. */
export function useFoldState({ payload }: Question) {
  const [opened, setOpened] = useState(0);
  const [areAllOpen, openAll] = useState(false);
  const total = useMemo(
    () =>
      briefOf(payload.given).blocks.reduce(
        (sum, block) => (block.kind === "diff" ? sum + foldCount(readDiff(block.text)) : sum),
        0,
      ),
    [payload],
  );
  const context = useMemo<Folds>(
    () => ({ areAllOpen, noteOpened: () => setOpened((count) => count + 1) }),
    [areAllOpen],
  );
  const count = areAllOpen ? total : opened;
  return { context, left: total - count, opened: count, openAll: () => openAll(true) };
}
