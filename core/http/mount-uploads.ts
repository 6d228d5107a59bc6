import type { ServerResponse } from 'node:http'
import { extname } from 'node:path'
import type { Express } from 'express'

/** Serves uploaded files under /uploads, without permission (contract/rest.md 15). */
export async function mountUploads(app: Express, folder: string): Promise<void> {
  const { default: express } = await import('express')
  app.use(
    '/uploads',
    express.static(folder, { index: false, redirect: false, dotfiles: 'ignore', setHeaders: harmless }),
  )
}

/** What a browser shows without running anything in it. */
const SHOWN = new Set([
  '.png',
  '.jpg',
  '.jpeg',
  '.gif',
  '.webp',
  '.avif',
  '.mp4',
  '.webm',
  '.mp3',
  '.ogg',
  '.wav',
  '.pdf',
  '.txt',
])

/** SVG, HTML and whatever else could act in the reader's browser is only ever a download (safety S16). */
function harmless(response: ServerResponse, path: string): void {
  response.setHeader('X-Content-Type-Options', 'nosniff')
  response.setHeader('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
  if (!SHOWN.has(extname(path).toLowerCase())) response.setHeader('Content-Disposition', 'attachment')
}
