import type { TestApp } from '../../core/testing.ts'

/** Uploads a text file; with a `search` of `?id=…` as the replacement of a file. */
export function uploadText({ request }: TestApp, token: string, text: string, search = '') {
  const body = new FormData()
  body.append('files', new Blob([text]), 'a.txt')
  return request('POST', `/api/upload${search}`, { body, token })
}
