import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import test from 'ava'
import MiniSearch from 'minisearch'
import { buildDocs } from '../../scripts/build-docs.ts'
import { temporaryFolder } from '../harness/folder.ts'

test('the documentation site has every page, no broken link, no external file, and an offline search', t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  t.deepEqual(buildDocs(folder.path), [])
  const files = readdirSync(folder.path, { recursive: true, encoding: 'utf8' })
  for (const page of ['index.html', 'deploy.html', 'tutorials/role-admin.html', 'reference/rest.html'])
    t.true(files.includes(page), page)
  for (const file of files.filter(name => name.endsWith('.html')))
    t.notRegex(readFileSync(join(folder.path, file), 'utf8'), /(?:src|rel="stylesheet" href)="https?:/, file)
  const window: { docsIndex?: string } = {}
  runInNewContext(readFileSync(join(folder.path, 'index.js'), 'utf8'), { window })
  const index = MiniSearch.loadJSON(window.docsIndex ?? '', {
    fields: ['title', 'text', 'page'],
    storeFields: ['title', 'page', 'url'],
  })
  t.is(index.search('patroni watchdog', { combineWith: 'AND' })[0]?.page, 'Deployment')
  t.is(index.search('rotating secrets', { combineWith: 'AND' })[0]?.url, 'identity.html#rotating-secrets')
})
