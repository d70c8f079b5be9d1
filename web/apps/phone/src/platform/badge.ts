/** The number on the app's icon. */

interface Badge {
  setAppBadge?(count: number): Promise<void>;
  clearAppBadge?(): Promise<void>;
}

/** A platform without badges does nothing. */
export async function showBadge(count: number): Promise<void> {
  const { setAppBadge, clearAppBadge } = navigator as Badge;
  try {
    if (count > 0) await setAppBadge?.call(navigator, count);
    else await clearAppBadge?.call(navigator);
  } catch {
    // not installed, or not allowed to
  }
}
