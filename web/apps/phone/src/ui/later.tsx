/** What is loaded when it is first looked at: a page starts with what may wait for an answer. */

import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { t } from "../i18n/index.ts";
import { Problem } from "./controls.tsx";

const rest: (() => Promise<unknown>)[] = [];

/** Loads the screens that were not looked at yet, so that a page that loses its connection has them all. */
export function loadRest(): void {
  for (const load of rest) void load().catch(() => undefined); // tried again when it is looked at
}

/** `Meanwhile` stands in its place until it is there; nothing does where none is given. */
export function later<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Meanwhile: ComponentType<Props> | null = null,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | null = null;
  if (Meanwhile === null) rest.push(load);
  return function Later(props: Props) {
    const [hasFailed, setFailed] = useState(false);
    const [Loaded, setLoaded] = useState<ComponentType<Props> | null>(() => loaded);
    useEffect(() => {
      if (Loaded) return;
      load().then(
        (component) => {
          loaded = component;
          setLoaded(() => component);
        },
        () => setFailed(true), // neither kept nor to be had
      );
    }, []);
    if (Loaded) return <Loaded {...props} />;
    if (Meanwhile) return <Meanwhile {...props} />;
    return hasFailed ? <Problem text={t("problem.unreachable")} /> : null;
  };
}
