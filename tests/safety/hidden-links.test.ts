import test from 'ava'
import { FULL, openWorld, type World } from './world.ts'

// docs/access.md#where-row-conditions: what a write of links changes in documents that the caller may not find or update.
const CALLER = 'caller-of-hidden-links-token-0000000000'

const PROJECT = `
name: Hidden links
database: { url: "\${DATABASE_URL}" }
contentTypes:
  post:
    attributes:
      title: string
      open: boolean
      tags: { type: relation, relation: manyToMany, target: tag, inversedBy: posts }
      badge: { type: relation, relation: oneToOne, target: tag, inversedBy: badged }
  tag:
    attributes:
      label: string
      posts: { type: relation, relation: manyToMany, target: post, mappedBy: tags }
      badged: { type: relation, relation: oneToOne, target: post, mappedBy: badge }
apiTokens:
  full: { type: full-access, secret: ${FULL} }
  caller:
    type: custom
    secret: ${CALLER}
    permissions:
      post: { find: { where: { open: true } }, create: true }
      tag: { find: true, update: true }
`

const CONTENT = {
  'tags.yaml': '- { documentId: tag, label: one }\n',
  'posts.yaml':
    '- { documentId: hidden, open: false, tags: [tag], badge: tag }\n- { documentId: seen, open: true, tags: [tag] }\n',
}

let world: World
test.before(async () => {
  world = await openWorld(PROJECT, CONTENT)
})
test.after.always(() => world?.close())

const postsOfTag = async () => {
  const { posts } = await world.make('GET', '/api/tags/tag?populate[posts][fields]=title')
  return (posts as readonly { readonly documentId: string }[]).map(({ documentId }) => documentId).sort()
}

const write = (posts: unknown) => world.ask('PUT', '/api/tags/tag', { as: CALLER, data: { posts } })

test.serial(
  'connect and disconnect keep links to hidden documents, and a whole list replaces them',
  async t => {
    t.is((await write({ disconnect: ['hidden'] })).status, 400)
    t.is((await write({ disconnect: ['seen'] })).status, 200)
    t.deepEqual(await postsOfTag(), ['hidden'])
    t.is((await write({ connect: [{ documentId: 'seen', position: { before: 'hidden' } }] })).status, 400)
    t.is((await write({ connect: ['seen'] })).status, 200)
    t.deepEqual(await postsOfTag(), ['hidden', 'seen'])
    t.is((await write(['seen'])).status, 200)
    t.deepEqual(await postsOfTag(), ['seen'])
  },
)

test.serial('a one-to-one relation takes its target from a hidden owner without showing it', async t => {
  const made = await world.ask('POST', '/api/posts', { as: CALLER, data: { open: true, badge: 'tag' } })
  t.is(made.status, 201)
  t.notRegex(made.text, /hidden/)
  t.is((await world.make('GET', '/api/posts/hidden?populate=badge')).badge, null)
})
