/** What components hang on to. */

import { ForeignReplyError, UnreachableError } from "@reflecto/core";
import { createContext } from "preact";
import { useContext, useEffect, useLayoutEffect, useReducer, useState } from "preact/hooks";
import { t } from "../i18n/index.ts";
import type { App } from "../state/app.ts";
import { type Route, routeOf } from "../state/route.ts";

export const AppContext = createContext<App | null>(null);

/** The app; the component is drawn again whenever it changes. */
export function useApp(): App {
  const app = useContext(AppContext);
  if (!app) throw new Error("outside of the app");
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  // Not after the painting: what changed before that would not be drawn.
  useLayoutEffect(() => app.subscribe(() => redraw(undefined)), [app]);
  return app;
}

export function useRoute(): Route {
  const [route, setRoute] = useState(routeOf(location.hash));
  useLayoutEffect(() => {
    const follow = () => setRoute(routeOf(location.hash));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return route;
}

/** Draws the component again every second while `isActive`. */
export function useTick(isActive: boolean): void {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => {
    if (!isActive) return;
    const timer = setInterval(() => redraw(undefined), 1000);
    return () => clearInterval(timer);
  }, [isActive]);
}

/** Something loaded from the server, and how to load it again. */
export interface Loaded<T> {
  value: T | null;
  error: string | null;
  reload: () => Promise<void>;
}

export function useLoaded<T>(load: () => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ value: T | null; error: string | null }>({ value: null, error: null });
  const reload = async () => {
    try {
      setState({ value: await load(), error: null });
    } catch (error) {
      setState((before) => ({ ...before, error: messageOf(error) }));
    }
  };
  useEffect(() => void reload(), []);
  return { ...state, reload };
}

/** What to tell the person. What the server wrote into an error stays as it is. */
export function messageOf(error: unknown): string {
  if (error instanceof ForeignReplyError) return t("problem.foreign");
  if (error instanceof UnreachableError) return t("problem.unreachable");
  if (error instanceof Error && error.name === "Error" && error.message) return error.message;
  return t("problem.unknown");
}
