import { cpSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import test from 'ava'
import { openSite } from './site.ts'

const root = resolve(import.meta.dirname, '..', '..')

test('the example project starts with all its documents, and its pictures under their URLs', async t => {
  const site = await openSite(t, {})
  for (const part of ['content', 'policies', 'middlewares', 'extensions'])
    cpSync(join(root, part), join(site.folder.path, part), { recursive: true })
  const yaml = readFileSync(join(root, 'project.yaml'), 'utf8')
  const written = await site.must({
    'project.yaml': yaml.replace(/^apiTokens:[\s\S]*?\n\n/m, '').replace('name: Field Guide', ''),
  })
  t.is(written['api::cuisine.cuisine'], 7)
  const populate = 'populate[author]=true&populate[cover]=true&populate[body][populate]=*'
  const article = await site.get(`articles/the-courtyard-at-eight?${populate}`)
  t.is(article.author.documentId, 'ines-carvalho')
  t.is(article.body[2].restaurant.documentId, 'casa-oliva')
  const { width, height, mime, size, url } = article.cover
  t.deepEqual({ width, height, mime, size }, { width: 320, height: 200, mime: 'image/png', size: 1.56 })
  const stored = readFileSync(join(site.folder.path, '.plinth', url))
  t.deepEqual(stored, readFileSync(join(root, 'content/media/pictures/courtyard.png')))
  t.deepEqual(await site.must(), {})
})
