import test from 'ava'
import { openSite } from '../content/site.ts'
import { exported } from './streaming.ts'

const PROJECT = `
roles: { critic: { name: Critic } }
i18n: { locales: [en, fr], defaultLocale: en }
components: { shared.link: { attributes: { label: string, to: { type: relation, relation: oneToOne, target: tag } } } }
contentTypes:
  tag: { attributes: { name: string, secret: { type: string, private: true }, pages: { type: relation, relation: manyToMany, target: page, mappedBy: tags } } }
  page:
    draftAndPublish: true
    localized: true
    attributes:
      title: string
      size: { type: biginteger, localized: false }
      tags: { type: relation, relation: manyToMany, target: tag, inversedBy: pages }
      zone: { type: dynamiczone, components: [shared.link], localized: false }
`

const FILES = {
  'project.yaml': PROJECT,
  'content/users.yaml': '[{ username: ann, email: ann@example.com, password: secret-of-ann, role: critic }]',
  'content/tags.yaml': '[{ documentId: red, name: Red, secret: hush }, { documentId: blue, name: Blue }]',
  'content/pages.yaml': `
- documentId: first
  title: First
  size: "9007199254740993"
  tags: [blue, red]
  zone: [{ __component: shared.link, label: Go, to: red }]
  locales: { fr: { title: Premier, tags: red } }
- { documentId: second, status: draft, title: Second }
`,
}

interface ReportedVersion {
  readonly locale: string
  readonly status: string
  readonly values: { readonly title: string; readonly tags: readonly { readonly documentId: string }[] }
}

test('an export contains every version with its links in order and private attributes, but no password', async t => {
  const site = await openSite(t, FILES)
  await site.must()
  const [header = '', ...lines] = await exported({ folder: site.folder.path, database: site.database })
  const { project, passwords, types } = JSON.parse(header)
  t.deepEqual([project, passwords], ['Test', false])
  t.deepEqual(types['api::page.page'], {
    draftAndPublish: true,
    localized: true,
    attributes: {
      title: 'string',
      size: 'biginteger',
      tags: 'relation api::tag.tag[]',
      zone: 'zone shared.link',
    },
  })
  const documents = new Map(lines.map(line => JSON.parse(line)).map(each => [each.documentId, each]))
  t.is(lines.length, 5)
  t.deepEqual(documents.get('red').versions[0].values, { name: 'Red', secret: 'hush' })
  const [user] = [...documents.values()].filter(({ type }) => type === 'plugin::users-permissions.user')
  t.like(user.versions[0].values, { username: 'ann', role: { documentId: 'critic' } })
  t.false(lines.join('').includes('$2b$'))
  const first = documents.get('first')
  const reported = first.versions.map(({ locale, status, values: { title, tags } }: ReportedVersion) => [
    locale,
    status,
    title,
    tags.map(({ documentId }) => documentId),
  ])
  t.deepEqual(reported, [
    ['en', 'draft', 'First', ['blue', 'red']],
    ['en', 'published', 'First', ['blue', 'red']],
    ['fr', 'draft', 'Premier', ['red']],
    ['fr', 'published', 'Premier', ['red']],
  ])
  const shared = { size: '9007199254740993', zone: [{ __component: 'shared.link', label: 'Go', to: 'red' }] }
  t.deepEqual(first.shared, { draft: shared, published: shared })
  t.deepEqual(
    documents.get('second').versions.map(({ status }: { status: string }) => status),
    ['draft'],
  )
})

test('password hashes are exported on demand, and only named types if any are named', async t => {
  const site = await openSite(t, FILES)
  await site.must()
  const [, ...lines] = await exported(
    { folder: site.folder.path, database: site.database },
    { types: ['user'], passwords: true },
  )
  t.is(lines.length, 1)
  t.regex(lines[0] ?? '', /"password":\{"hash":"\$2b\$10\$[^"]{53}"\}/)
})
