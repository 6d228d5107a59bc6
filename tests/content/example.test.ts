import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import test from 'ava'
import { openSite } from './site.ts'

const root = resolve(import.meta.dirname, '..', '..')

test('the example project starts with its documents, drafts, locales, components and pictures', async t => {
  const site = await openSite(t, {})
  const { cpSync, readFileSync } = await import('node:fs')
  cpSync(join(root, 'content'), join(site.folder.path, 'content'), { recursive: true })
  const yaml = readFileSync(join(root, 'project.yaml'), 'utf8').replace(/^apiTokens:[\s\S]*?\n\n/m, '').replace('name: Field Guide', '')
  const written = await site.must({ 'project.yaml': yaml })
  t.is(written['api::cuisine.cuisine'], 7)
  const [article] = await site.get('articles?filters[documentId]=the-courtyard-at-eight&populate[author]=true&populate[restaurants]=true&populate[cover]=true&populate[seo]=true&populate[body][populate]=*&populate[localizations]=true')
  t.is(article.title, 'The courtyard at eight')
  console.log(JSON.stringify(article, null, 1))
  console.log(site.statements.map(s=>s.name))
  t.deepEqual(await site.must(), {})
  t.is(site.statements.length, 1)
  t.true(existsSync(join(site.folder.path, '.plinth/uploads')))
})
