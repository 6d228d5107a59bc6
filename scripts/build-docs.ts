// `npm run docs [FOLDER]`: the documentation as a folder of HTML pages with a search that works offline, also from file://.
// A link to a page, file or heading that does not exist is an error.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Marked, type Tokens } from 'marked'
import MiniSearch from 'minisearch'

const ROOT = join(import.meta.dirname, '..')
const OWN_PAGES = ['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md']

interface Page {
  /** Relative to the repository: docs/rest.md. */
  readonly source: string
  /** Relative to the site: rest.html. */
  readonly target: string
  readonly markdown: string
  readonly title: string
}

/** A part of a page that the search finds. */
interface Section {
  readonly id: number
  readonly page: string
  readonly title: string
  readonly url: string
  readonly text: string
}

function readPages(): readonly Page[] {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => posix.join('docs', name.replaceAll('\\', '/')))
  return [...docs.sort(), ...OWN_PAGES].map(source => {
    const markdown = readFileSync(join(ROOT, source), 'utf8').replace(/^<!--.*?-->\n*/s, '')
    const title = /^# (.*)$/m.exec(markdown)?.[1] ?? source
    return { source, target: targetOf(source), markdown, title }
  })
}

const targetOf = (source: string): string =>
  source
    .replace(/^docs\//, '')
    .replace(/README\.md$/, 'index.html')
    .replace(/\.md$/, '.html')

/** The anchor of a heading, as GitHub makes it. */
const slugOf = (text: string): string =>
  plain(text)
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')

const plain = (text: string): string => text.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '')

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, sign => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign] ?? '&quot;')

/** The headings of a page with their anchors, which are unique in it. */
function anchorsOf(markdown: string): readonly string[] {
  const counts = new Map<string, number>()
  return new Marked()
    .lexer(markdown)
    .filter((token): token is Tokens.Heading => token.type === 'heading')
    .map(({ text }) => {
      const slug = slugOf(text)
      const count = counts.get(slug) ?? 0
      counts.set(slug, count + 1)
      return count === 0 ? slug : `${slug}-${count}`
    })
}

interface Site {
  readonly pages: ReadonlyMap<string, Page>
  readonly anchors: ReadonlyMap<string, readonly string[]>
  readonly broken: string[]
}

/** The address of a link in the site; null: the file is in the repository only. */
function resolveLink(
  href: string,
  { source, target }: Page,
  { pages, anchors, broken }: Site,
): string | null {
  if (/^[a-z]+:/.test(href)) return href
  const [path = '', anchor] = href.split('#')
  const to = path === '' ? source : posix.normalize(posix.join(posix.dirname(source), path))
  const page = pages.get(to)
  if (!page && !existsSync(join(ROOT, to))) broken.push(`${source}: there is no ${to}`)
  if (!page) return null
  if (anchor && !anchors.get(to)?.includes(anchor)) broken.push(`${source}: ${to} has no heading #${anchor}`)
  const address = path === '' ? '' : posix.relative(posix.dirname(target), page.target)
  return anchor === undefined ? address : `${address}#${anchor}`
}

function render(page: Page, site: Site): string {
  const anchors = [...(site.anchors.get(page.source) ?? [])]
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const anchor = anchors.shift() ?? ''
        return `<h${depth} id="${anchor}"><a href="#${anchor}">${this.parser.parseInline(tokens)}</a></h${depth}>\n`
      },
      link({ href, tokens }) {
        const address = resolveLink(href, page, site)
        const text = this.parser.parseInline(tokens)
        return address === null ? text : `<a href="${escapeHtml(address)}">${text}</a>`
      },
    },
  })
  return marked.parse(page.markdown, { async: false })
}

function sectionsOf({ source, target, title, markdown }: Page, anchors: readonly string[]) {
  let [fence, heading, at] = [false, title, -1]
  const texts: string[][] = []
  const titles: string[] = []
  for (const line of markdown.split('\n')) {
    if (line.startsWith('```')) fence = !fence
    const [, found] = fence ? [] : (/^#{1,6} (.*)$/.exec(line) ?? [])
    if (found !== undefined) {
      heading = plain(found)
      at += 1
      titles[at] = heading
      texts[at] = []
    } else if (at >= 0) texts[at]?.push(line)
  }
  return titles.map((each, index) => ({
    page: title,
    title: each,
    url: `${target}#${anchors[index] ?? ''}`,
    text: plain((texts[index] ?? []).join(' ')),
    source,
  }))
}

const STYLE = `:root{color-scheme:light dark;--line:#8884;--soft:#8881}
*{box-sizing:border-box}body{margin:0;font:16px/1.6 system-ui,sans-serif;display:grid;grid-template-columns:16rem minmax(0,1fr)}
nav{border-right:1px solid var(--line);padding:1rem;height:100vh;overflow:auto;position:sticky;top:0;font-size:14px}
nav a{display:block;padding:.15rem .3rem;text-decoration:none;color:inherit;border-radius:4px}nav a:hover,nav a[aria-current]{background:var(--soft)}
main{padding:1rem 2rem 4rem;max-width:60rem}h1 a,h2 a,h3 a,h4 a{color:inherit;text-decoration:none}
pre,code{font:13px/1.5 ui-monospace,monospace;background:var(--soft);border-radius:4px}code{padding:.1em .3em}pre{padding:.8rem;overflow:auto}pre code{padding:0;background:none}
table{border-collapse:collapse;display:block;overflow:auto}td,th{border:1px solid var(--line);padding:.3rem .6rem;text-align:left;vertical-align:top}
input{width:100%;padding:.4rem;font:inherit}#found a{padding:.3rem}#found small{display:block;opacity:.7}
@media(max-width:50rem){body{display:block}nav{position:static;height:auto;border:0}}`

/** Runs in the browser. The index is a script, because pages of file:// may not fetch. */
const SEARCH = `const root = document.currentScript.dataset.root
const index = MiniSearch.loadJSON(window.docsIndex, { fields: ['title', 'text', 'page'], storeFields: ['title', 'page', 'url'] })
const input = document.querySelector('input')
const found = document.querySelector('#found')
input.addEventListener('input', () => {
  const hits = index.search(input.value, { prefix: true, fuzzy: 0.15, combineWith: 'AND', boost: { title: 4, page: 2 } }).slice(0, 15)
  found.replaceChildren(...hits.map(({ title, page, url }) => {
    const link = document.createElement('a')
    const small = document.createElement('small')
    link.href = root + url
    link.textContent = title
    small.textContent = page
    link.append(small)
    return link
  }))
  found.nextElementSibling.hidden = input.value !== ''
})
`

function pageOf(page: Page, site: Site): string {
  const root = posix.relative(posix.dirname(page.target), '.') || '.'
  const links = [...site.pages.values()].map(({ target, title }) => {
    const current = target === page.target ? ' aria-current="page"' : ''
    return `<a href="${root}/${target}"${current}>${escapeHtml(plain(title))}</a>`
  })
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(plain(page.title))} · Plinth</title>
<link rel="stylesheet" href="${root}/style.css">
</head>
<body>
<nav><input type="search" placeholder="Search" aria-label="Search the documentation"><div id="found" role="status"></div><div>${links.join('\n')}</div></nav>
<main>
${render(page, site)}</main>
<script src="${root}/minisearch.js"></script>
<script src="${root}/index.js"></script>
<script src="${root}/search.js" data-root="${root}/"></script>
</body>
</html>
`
}

/** Writes the site to a folder; returns the links that lead nowhere. */
export function buildDocs(folder: string): readonly string[] {
  const pages = readPages()
  const anchors = new Map(pages.map(({ source, markdown }) => [source, anchorsOf(markdown)]))
  const site: Site = { pages: new Map(pages.map(page => [page.source, page])), anchors, broken: [] }
  const search = new MiniSearch<Section>({
    fields: ['title', 'text', 'page'],
    storeFields: ['title', 'page', 'url'],
  })
  const sections = pages.flatMap(page => sectionsOf(page, anchors.get(page.source) ?? []))
  search.addAll(sections.map((section, id) => ({ id, ...section })))
  rmSync(folder, { recursive: true, force: true })
  for (const page of pages) {
    const path = join(folder, page.target)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, pageOf(page, site))
  }
  copyFileSync(join(ROOT, 'node_modules/minisearch/dist/umd/index.js'), join(folder, 'minisearch.js'))
  writeFileSync(join(folder, 'index.js'), `window.docsIndex = ${JSON.stringify(JSON.stringify(search))}\n`)
  writeFileSync(join(folder, 'search.js'), SEARCH)
  writeFileSync(join(folder, 'style.css'), STYLE)
  return site.broken
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const folder = process.argv[2] ?? join(ROOT, 'site')
  const broken = buildDocs(folder)
  for (const each of broken) process.stderr.write(`${each}\n`)
  process.stdout.write(`Open ${join(relative(process.cwd(), folder), 'index.html')}\n`)
  process.exitCode = broken.length > 0 ? 1 : 0
}
