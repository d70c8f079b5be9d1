/** A QR code as one SVG path; dark on light in both themes, as scanners expect. */

import { useEffect, useState } from "preact/hooks";
import { t } from "../i18n/index.ts";

const QUIET_ZONE = 4; // ISO/IEC 18004: four modules

export function QrCode({ text }: { text: string }) {
  const [drawing, setDrawing] = useState<{ size: number; path: string } | null>(null);
  useEffect(() => {
    void import("lean-qr").then(({ generate }) => {
      const code = generate(text);
      let path = "";
      for (let y = 0; y < code.size; y += 1) {
        for (let x = 0; x < code.size; x += 1) {
          if (code.get(x, y)) path += `M${x + QUIET_ZONE} ${y + QUIET_ZONE}h1v1h-1z`;
        }
      }
      setDrawing({ size: code.size + 2 * QUIET_ZONE, path });
    });
  }, [text]);
  return (
    <div class="qr">
      {drawing && (
        <svg viewBox={`0 0 ${drawing.size} ${drawing.size}`} role="img" aria-label={t("qr.label")}>
          <path d={drawing.path} />
        </svg>
      )}
    </div>
  );
}
