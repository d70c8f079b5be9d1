/** Markdown as elements, never as HTML: what the parser calls HTML is shown as the text it is, images as links. */

import { webLink } from "@reflecto/core";
import { Lexer, type MarkedToken, type Token, type Tokens } from "marked";
import type { ComponentChildren } from "preact";
import { OutLink, Visible } from "./text.tsx";

export function MarkdownText({ text }: { text: string }) {
  return (
    <div class="markdown" dir="auto">
      {blocks(new Lexer({ gfm: true, breaks: true }).lex(text))}
    </div>
  );
}

function blocks(tokens: Token[]): ComponentChildren[] {
  return tokens.map((token) => block(token as MarkedToken));
}

function block(token: MarkedToken): ComponentChildren {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      return <h3 dir="auto">{inlines(token.tokens)}</h3>;
    case "paragraph":
      return <p dir="auto">{inlines(token.tokens)}</p>;
    case "blockquote":
      return <blockquote>{blocks(token.tokens)}</blockquote>;
    case "code":
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        <pre tabIndex={0}>
          <Visible text={token.text} />
        </pre>
      );
    case "hr":
      return <hr />;
    case "list":
      return list(token);
    case "table":
      return table(token);
    default:
      return inline(token);
  }
}

function list(token: Tokens.List) {
  const items = token.items.map((item) => (
    <li>
      {item.task && (item.checked ? "☑ " : "☐ ")}
      {blocks(item.tokens.filter((part) => part.type !== "checkbox"))}
    </li>
  ));
  return token.ordered ? <ol start={token.start === "" ? 1 : token.start}>{items}</ol> : <ul>{items}</ul>;
}

function table(token: Tokens.Table) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <div class="table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {token.header.map((cell) => (
              <th>{inlines(cell.tokens)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row) => (
            <tr>
              {row.map((cell) => (
                <td>{inlines(cell.tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function inlines(tokens: Token[]): ComponentChildren[] {
  return tokens.map((token) => inline(token as MarkedToken));
}

function inline(token: MarkedToken): ComponentChildren {
  switch (token.type) {
    case "text":
      return "tokens" in token && token.tokens ? inlines(token.tokens) : <Visible text={token.text} />;
    case "escape":
      return <Visible text={token.text} />;
    case "strong":
      return <strong>{inlines(token.tokens)}</strong>;
    case "em":
      return <em>{inlines(token.tokens)}</em>;
    case "del":
      return <del>{inlines(token.tokens)}</del>;
    case "codespan":
      return (
        <code>
          <Visible text={token.text} />
        </code>
      );
    case "br":
      return <br />;
    case "link":
    case "image": {
      const url = webLink(token.href);
      const label = token.text === token.href ? null : token.text;
      return url ? <OutLink url={url} label={label} /> : <Visible text={token.raw} />;
    }
    default:
      return <Visible text={token.raw} />;
  }
}
