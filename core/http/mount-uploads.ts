import type { ServerResponse } from 'node:http'
import type { Express } from 'express'
import { isHarmless } from '../media/file-type.ts'
import { ALLOWED_ANYWHERE, methodNotAllowed } from './not-implemented.ts'
import { writeAnswer } from './write-answer.ts'

/** Serves uploaded files under /uploads, without permission (contract/rest.md 15). */
export async function mountUploads(app: Express, folder: string): Promise<void> {
  const { default: express } = await import('express')
  app.use(
    '/uploads',
    (request, response, next) => {
      if (READS.has(request.method)) next()
      else writeAnswer(response, methodNotAllowed(ALLOWED_ANYWHERE), [])
    },
    express.static(folder, { index: false, redirect: false, dotfiles: 'ignore', setHeaders: harmless }),
  )
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/** SVG, HTML and whatever else could act in the reader's browser is only ever a download (safety S16). */
function harmless(response: ServerResponse, path: string): void {
  response.setHeader('X-Content-Type-Options', 'nosniff')
  response.setHeader('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
  if (isHarmless(path)) return
  response.setHeader('Content-Disposition', 'attachment')
  // A page that shows a drawing as a picture runs nothing of it; a script that it loads would run.
  if (!/\.svg$/i.test(path)) response.setHeader('Content-Type', 'application/octet-stream')
}
