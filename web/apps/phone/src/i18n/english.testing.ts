/** Tests speak English, compiled as the build does it. */

import compile from "icu-minify/compile";
import en from "./en.json";
import { speak } from "./index.ts";

speak("en", Object.fromEntries(Object.entries(en).map(([key, text]) => [key, compile(text)])));
