/** The few symbols, drawn in one style: 24 units wide, a stroke of 1.75. */

const PATHS = {
  questions:
    "M4 12a8 7.5 0 1 1 3.6 6.3L4 19.5l1-3.6A7 7 0 0 1 4 12zM9.6 9.6a2.4 2.4 0 1 1 3.5 2.2c-.8.4-1.1.8-1.1 1.5M12 16h.01",
  inbox: "M4 13.5 6.6 5h10.8L20 13.5V19H4zM4 13.5h4.6l1.2 2.4h4.4l1.2-2.4H20",
  history: "M4.5 12a7.5 7.5 0 1 0 2.4-5.5L4.5 8.7M4.5 4.5v4.2h4.2M12 8v4.3l2.8 1.7",
  settings: "M4 7h9M17 7h3M4 17h3M11 17h9M15 4.6v4.8M9 14.6v4.8",
  check: "m5 12.5 4.5 4.5L19 7.5",
  alert: "M12 4.5 20.5 19h-17zM12 10v4M12 16.6h.01",
  late: "M12 7.5v5l3 1.8M12 20a8 8 0 1 0 0-16 8 8 0 0 0 0 16z",
  over: "M6.5 12h11",
  back: "m14.5 5.5-6.5 6.5 6.5 6.5",
  next: "m9.5 5.5 6.5 6.5-6.5 6.5",
  copy: "M9 9h10.5v10.5H9zM15 9V4.5H4.5V15H9",
  document: "M6.5 3.5h7l4.5 4.5v12.5h-11.5zM13.5 3.5V8H18M9.5 12.5h5.5M9.5 16h5.5",
  bell: "M6 16.5V11a6 6 0 1 1 12 0v5.5l1.5 1.5h-15zM10 20.5h4",
  link: "M14 5h5v5M19 5l-8 8M17 14v5H5V7h5",
  save: "M12 4v10.5M7.5 10.5 12 15l4.5-4.5M5 19.5h14",
  key: "M14.5 13.5a4.5 4.5 0 1 0-4.3-3.2L4 16.5V20h3.5v-2.5H10V15l1.2-1.2c1 .3 2.2.2 3.3-.3zM15.5 8.5h.01",
  phone: "M8 3.5h8a1 1 0 0 1 1 1v15a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1v-15a1 1 0 0 1 1-1zM11 17.5h2",
  desktop: "M4 5h16v11H4zM9 20h6M12 16v4",
  pair: "M3.5 6h9v12h-9zM8 15.5h.01M15 9.5h5.5v9H15M16 5.5h3a1.5 1.5 0 0 1 1.5 1.5",
  invite: "M4.5 4.5h6v6h-6zM13.5 4.5h6v6h-6zM4.5 13.5h6v6h-6zM13.5 13.5h2.5v2.5M19.5 13.5v.01M19.5 19.5h-3v-1",
  silent: "M4 4l16 16M6 16.5V11c0-1 .2-1.9.7-2.7M9 5.8A6 6 0 0 1 18 11v3M4.5 18H18M10 20.5h4",
  storage:
    "M5 6.5c0-1.4 3.1-2.5 7-2.5s7 1.1 7 2.5v11c0 1.4-3.1 2.5-7 2.5s-7-1.1-7-2.5zM5 6.5C5 7.9 8.1 9 12 9s7-1.1 7-2.5M5 12c0 1.4 3.1 2.5 7 2.5s7-1.1 7-2.5",
  renew: "M19.5 12a7.5 7.5 0 1 1-2.4-5.5l2.4 2.2M19.5 4.5v4.2h-4.2",
  offline: "M4 4l16 16M8.5 15.8a5 5 0 0 1 5.4-.9M5.5 12.2a10 10 0 0 1 4.3-2.2M14.5 10.1c1.6.4 3 1.1 4 2.1M12 19h.01",
  close: "m7 7 10 10M17 7 7 17",
  plus: "M12 4v16M4 12h16",
  more: "M5.5 12h.01M12 12h.01M18.5 12h.01",
  words: "M5 5.5h14v10h-7l-4 3.5v-3.5H5zM8.5 9h7M8.5 12h4.5",
  refused: "m6.5 6.5 11 11M17.5 6.5l-11 11",
  down: "m5.5 9.5 6.5 6.5 6.5-6.5",
  erase: "M20 6H9l-5 6 5 6h11zM11.5 9.5l5 5M16.5 9.5l-5 5",
  hold: "M8 12V6.5a1.5 1.5 0 0 1 3 0V11m0-6a1.5 1.5 0 0 1 3 0v6m0-4.5a1.5 1.5 0 0 1 3 0V15c0 3.5-2 5.5-5.2 5.5-2.6 0-4-1.2-5-3.2L5 14a1.5 1.5 0 0 1 2.6-1.5L8.5 14",
  search: "m15.5 15.5 4.5 4.5M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13z",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" data-icon={name} viewBox="0 0 24 24" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The mark: a sun and its reflection. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 512 512" aria-hidden="true">
      <rect width="512" height="512" rx="116" fill="#0b5d57" />
      <g fill="#f8f4ea">
        <path d="M116 246a140 140 0 0 1 280 0z" />
        <rect x="136" y="278" width="240" height="28" rx="14" opacity=".85" />
        <rect x="168" y="326" width="176" height="26" rx="13" opacity=".62" />
        <rect x="206" y="372" width="100" height="24" rx="12" opacity=".42" />
      </g>
    </svg>
  );
}
