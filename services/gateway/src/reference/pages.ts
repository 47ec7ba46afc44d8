import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { limits, type OpenApi } from '@rollcall/contract'
import { anchorOf, type DescribedError, type Group, groupsOf, titleOf } from './document.ts'
import { type Html, html } from './html.ts'
import { inline, markdown } from './markdown.ts'
import { errorTable, operationSection, verbOf } from './operation.ts'

/** A page of the reference. `path` is below /docs. */
type Page = { path: string; title: string; content: Html }
type Guide = { path: string; title: string; lead: string; text: string }

/** Files that every page loads, by their addresses. */
export type PageFiles = { style: string; script: string }

/** Order of the guides: what one needs first comes first. */
const GUIDES = ['authentication', 'filters', 'errors', 'limits', 'idempotency', 'imports', 'privacy', 'webhooks']
/** Share of the operations from which on an error counts as common. */
const COMMON = 0.4

/**
 * Renders the pages of the reference: an overview, the guides, and a page for each tag of the document. Nothing in them
 * needs a script to be read.
 * @returns markup by path: `/docs`, `/docs/contacts`
 */
export function renderReference(document: OpenApi, files: PageFiles): Map<string, string> {
  const groups = groupsOf(document)
  const guides = readGuides()
  const common = commonErrors(groups)
  const pages = [
    { path: '', title: 'Rollcall API', content: overview(document, groups, guides) },
    ...guides.map(guide => guidePage(document, guide)),
    ...groups.map(group => groupPage(document, group, common)),
  ]
  return new Map(pages.map(page => [`/docs${page.path}`, layout(page, groups, guides, files).text]))
}

function readGuides(): Guide[] {
  const folder = join(import.meta.dirname, 'guides')
  const unlisted = readdirSync(folder).filter(name => !GUIDES.includes(name.replace(/\.md$/, '')))
  if (unlisted.length > 0) throw new Error(`guides that are not listed: ${unlisted.join(', ')}`)
  return GUIDES.map(name => {
    const [heading = '', lead = '', ...more] = readFileSync(join(folder, `${name}.md`), 'utf8').split('\n\n')
    return { path: `/guides/${name}`, title: heading.replace(/^# /, ''), lead, text: more.join('\n\n') }
  })
}

function commonErrors(groups: readonly Group[]): Set<string> {
  const lists = groups.flatMap(({ operations }) => operations.map(each => Object.values(each['x-error-codes']).flat()))
  const counts = Map.groupBy(lists.flat(), code => code)
  return new Set([...counts].filter(([, uses]) => uses.length >= lists.length * COMMON).map(([code]) => code))
}

function overview(document: OpenApi, groups: readonly Group[], guides: readonly Guide[]): Html {
  const count = groups.reduce((sum, { operations }) => sum + operations.length, 0)
  return html`<h1>Rollcall API</h1>
<p class="lead">Contacts, lists and imports, sending domains and senders, users, roles and tokens: ${count} operations over
JSON. Every example is a request of the test suite and its answer.</p>
${markdown(START)}
<h2>Guides</h2>
<ul class="cards">${guides.map(({ path, title, lead }) => html`<li><a href="/docs${path}">${title}</a><p>${inline(lead)}</p></li>`)}</ul>
<h2>Operations</h2>
<ul class="cards">${groups.map(
    ({ slug, name, description, operations }) =>
      html`<li><a href="/docs/${slug}">${name}</a><p>${inline(description)} ${operations.length} operations.</p></li>`,
  )}</ul>
<p>The same as <a href="/openapi.json">OpenAPI ${document.openapi}</a>, for generators and other tools.</p>`
}

const START = `Programs use an API token: make one in the console, or with \`POST /api/tokens\`.

\`\`\`sh
export ROLLCALL_URL=http://localhost:8080 ROLLCALL_TOKEN=…
curl "$ROLLCALL_URL/api/audience" -H "Authorization: Bearer $ROLLCALL_TOKEN"
\`\`\`

In TypeScript, after \`npm install @rollcall/sdk\`:

\`\`\`ts
import { createClient } from '@rollcall/sdk'

const rollcall = createClient({ baseUrl: process.env.ROLLCALL_URL, token: process.env.ROLLCALL_TOKEN })
const page = await rollcall.contacts.list()
\`\`\`
`

function guidePage(document: OpenApi, { path, title, lead, text }: Guide): Page {
  const known = Object.entries(document['x-errors'] as Record<string, DescribedError>)
  const all = path.endsWith('/errors')
  const table = all && errorTable(known.map(([name, error]) => ({ name, ...error })))
  return {
    path,
    title,
    content: html`<article class="guide"><h1>${title}</h1><p class="lead">${inline(lead)}</p>${markdown(text.replace('{{limits}}', limitRows()))}${table}</article>`,
  }
}

/** Lists the limits as rows of a Markdown table. */
function limitRows(): string {
  const rows = Object.entries(limits).map(
    ([group, { requests, windowSeconds }]) =>
      `| ${group.replaceAll('_', ' ')} | ${requests} in ${windowSeconds} seconds |`,
  )
  return ['| Group | Requests |', '|---|---|', ...rows].join('\n')
}

function groupPage(document: OpenApi, group: Group, common: ReadonlySet<string>): Page {
  const { slug, name, description, operations } = group
  return {
    path: `/${slug}`,
    title: name,
    content: html`<h1>${name}</h1><p class="lead">${inline(description)}</p>
<ul class="contents">${operations.map(
      each =>
        html`<li>${verbOf(each)} <a href="#${anchorOf(each)}">${titleOf(each)}</a> <code>${each.path}</code></li>`,
    )}</ul>
${operations.map(each => operationSection(document, each, common))}`,
  }
}

function layout(page: Page, groups: readonly Group[], guides: readonly Guide[], files: PageFiles): Html {
  const here = (path: string) => (path === page.path ? html` aria-current="page"` : undefined)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${page.path === '' ? page.title : `${page.title} · Rollcall API`}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${files.style}">
<script src="${files.script}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<button type="button" class="menu" aria-expanded="false" aria-controls="navigation" hidden>Menu</button>
<a class="name" href="/docs"><b>Rollcall</b> API</a>
<div class="tools" hidden>
<label>Examples <select id="language"><option value="curl">curl</option><option value="typescript">TypeScript</option></select></label>
<label>Theme <select id="scheme"><option value="">System</option><option value="light">Light</option><option value="dark">Dark</option></select></label>
</div>
</header>
<div class="columns">
<nav id="navigation" aria-label="Reference">
<label class="find" hidden>Find an operation <input type="search" id="find" autocomplete="off"></label>
<p class="none" role="status"></p>
<h2>Guides</h2>
<ul>${guides.map(({ path, title }) => html`<li><a href="/docs${path}"${here(path)}>${title}</a></li>`)}</ul>
<h2>Operations</h2>
${groups.map(
  ({ slug, name, operations }) => html`<details${page.path === `/${slug}` && html` open`}><summary>${name}</summary>
<ul>${operations.map(
    each =>
      html`<li><a href="/docs/${slug}#${anchorOf(each)}" title="${each.verb} ${each.path}">${titleOf(each)} ${verbOf(each)}</a></li>`,
  )}</ul></details>`,
)}
</nav>
<main id="content" tabindex="-1">${page.content}</main>
</div>
<p class="spoken" role="status"></p>
</body>
</html>
`
}
