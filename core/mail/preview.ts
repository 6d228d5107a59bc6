import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readFolder } from '../base/read-folder.ts'
import { escapeHtml } from '../base/text.ts'
import type { HttpRequest, HttpResponse, Responder } from '../faults/http-exchange.ts'
import { LOOPBACK_HOST, MAIL_FOLDER } from './transport.ts'

const PATH = '/_mail'

/**
 * Shows the mails that development keeps. Mails hold codes that take over accounts, so only this machine may read them: the
 * client and the name that it asks for must be local, and no proxy may stand between.
 */
export function openMailPreview(root: string, production: boolean): Responder {
  if (production) return () => null
  const folder = join(root, MAIL_FOLDER)
  return request => {
    const { path, method } = request
    const isMine = path === PATH || path.startsWith(`${PATH}/`)
    if (!isMine || (method !== 'GET' && method !== 'HEAD') || !isLocal(request)) return null
    request.route = 'mail preview'
    const id = path.slice(PATH.length + 1)
    return id === '' ? answerList(folder) : answerMail(folder, id)
  }
}

const LOOPBACK_PEER = /^(?:::ffff:)?127(?:\.\d+){3}$|^::1$/

/** A page of another site could reach this machine under a name of its own (DNS rebinding). */
function isLocal({ peer, headers }: HttpRequest): boolean {
  const host = (headers.host ?? '').replace(/:\d+$/, '')
  const isForwarded = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined
  return LOOPBACK_PEER.test(peer) && LOOPBACK_HOST.test(host) && !isForwarded
}

/** The newest mails are listed; older ones stay in the folder. */
const MAX_LISTED = 100

const listFiles = async (folder: string): Promise<readonly string[]> =>
  (await readFolder(folder)).map(({ name }) => name)

async function answerList(folder: string): Promise<HttpResponse> {
  const files = await listFiles(folder)
  const newest = files
    .filter(file => file.endsWith('.txt'))
    .toSorted()
    .reverse()
    .slice(0, MAX_LISTED)
  const rows = await Promise.all(
    newest.map(async file => {
      const { to, subject } = parseStored(await readFile(join(folder, file), 'utf8'))
      const id = file.slice(0, -'.txt'.length)
      const cells = [id.slice(0, 19), to].map(cell => `<td>${escapeHtml(cell)}</td>`).join('')
      return `<tr>${cells}<td><a href="${PATH}/${escapeHtml(id)}">${escapeHtml(subject)}</a></td></tr>`
    }),
  )
  const none = '<p>No mail was sent yet.</p>'
  return page('Mails', rows.length === 0 ? none : `<table>${rows.join('\n')}</table>`)
}

async function answerMail(folder: string, id: string): Promise<HttpResponse> {
  const files = await listFiles(folder)
  if (!files.includes(`${id}.txt`))
    return { ...page('Not found', '<p>There is no such mail.</p>'), status: 404 }
  const { from, to, subject, text } = parseStored(await readFile(join(folder, `${id}.txt`), 'utf8'))
  const html = files.includes(`${id}.html`) ? await readFile(join(folder, `${id}.html`), 'utf8') : null
  const head = [`From: ${from}`, `To: ${to}`, `Subject: ${subject}`].map(escapeHtml).join('<br>')
  // sandbox without a word: no scripts, no forms, no access to this page.
  const frame =
    html === null ? '' : `<h2>HTML</h2><iframe sandbox title="HTML" srcdoc="${escapeHtml(html)}"></iframe>`
  const back = `<p><a href="${PATH}">All mails</a></p>`
  return page(
    subject,
    `${back}<p>${head}</p><h2>Text</h2><pre>${linkAddresses(escapeHtml(text))}</pre>${frame}`,
  )
}

interface StoredMail {
  readonly from: string
  readonly to: string
  readonly subject: string
  readonly text: string
}

function parseStored(stored: string): StoredMail {
  const [from = '', to = '', subject = '', , ...lines] = stored.split('\n')
  const value = (line: string) => line.slice(line.indexOf(': ') + 2)
  return { from: value(from), to: value(to), subject: value(subject), text: lines.join('\n') }
}

const linkAddresses = (escaped: string): string =>
  escaped.replace(/\bhttps?:\/\/[^\s<]+/g, url => `<a href="${url}" rel="noreferrer">${url}</a>`)

const POLICY = [
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const STYLE =
  'body{font:16px system-ui;margin:2rem;max-width:60rem}td{padding:.2rem 1rem .2rem 0}pre{white-space:pre-wrap}iframe{width:100%;height:30rem;border:1px solid #ccc;background:#fff}'

const page = (title: string, body: string): HttpResponse => ({
  status: 200,
  type: 'text/html; charset=utf-8',
  headers: {
    'Content-Security-Policy': POLICY,
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
  },
  body: `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${escapeHtml(title)}</title><style>${STYLE}</style></head>
<body><h1>${escapeHtml(title)}</h1>
${body}
</body></html>
`,
})
