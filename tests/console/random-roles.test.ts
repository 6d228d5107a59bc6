import test from 'ava'
import { once } from '../../core/base/memo.ts'
import { bundleConsole } from '../../scripts/bundle-console.ts'
import { numbersFrom, type Random } from '../end-to-end/fuzz.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'
import { addUser, openConsole, openSignedIn } from './open-console.ts'

// Roles with random permissions look at all that the console offers them. Every attribute has a name and values of its own, so that a text
// of the page, of its storage or of a response shows what it reveals. PLINTH_SAFETY=whole: 100 roles.

const file = teardownOfFile(test.after.always)

const ROLES = process.env.PLINTH_SAFETY === 'whole' ? 100 : 8
const SEED = 20_261_126
const PLAIN = ['string', 'text', 'richtext', 'blocks', 'json', 'uid'] as const
const TYPES = ['alder', 'cedar', 'maple'] as const
type Type = (typeof TYPES)[number]

/** A word that occurs for one reason only. */
const nameOf = (type: Type, kind: string): string => `${type}${kind}name`
const textOf = (type: Type, kind: string): string => `${type}-${kind}-value`

const relationOf = (type: Type): string => nameOf(type, 'relation')
const targetOf = (type: Type): Type => TYPES[(TYPES.indexOf(type) + 1) % TYPES.length] ?? 'alder'
const plainOf = (type: Type): readonly string[] => PLAIN.map(kind => nameOf(type, kind))
const attributesOf = (type: Type): readonly string[] => [
  ...plainOf(type),
  relationOf(type),
  nameOf(type, 'component'),
]

interface Grants {
  readonly find: readonly string[] | null
  readonly update: readonly string[] | null
}

const some = (random: Random, names: readonly string[]): readonly string[] | null =>
  random() < 0.3 ? null : names.filter(() => random() < 0.5)

function randomGrants(random: Random): Readonly<Record<Type, Grants>> {
  const grants = (type: Type): Grants => {
    const find = some(random, attributesOf(type))
    return { find, update: find && some(random, attributesOf(type)) }
  }
  return { alder: grants('alder'), cedar: grants('cedar'), maple: grants('maple') }
}

const random = numbersFrom(SEED)
const roles = Array.from({ length: ROLES }, (_, at) => ({ name: `role${at}`, grants: randomGrants(random) }))

function permissionsOf(grants: Readonly<Record<Type, Grants>>) {
  const entries = TYPES.flatMap(type => {
    const { find, update } = grants[type]
    if (!find || find.length === 0) return []
    const writes =
      update && update.length > 0 ? { update: { fields: update }, create: { fields: update } } : {}
    return [[type, { find: { fields: find }, findOne: { fields: find }, ...writes }] as const]
  })
  return { ...Object.fromEntries(entries), users: ['me'] }
}

const PROJECT = {
  name: 'Trees',
  console: { enabled: 'always' },
  server: { rateLimit: { auth: false } },
  components: Object.fromEntries(
    TYPES.map(type => [`part.${type}`, { attributes: { [nameOf(type, 'inner')]: 'string' } }]),
  ),
  contentTypes: Object.fromEntries(
    TYPES.map(type => [
      type,
      {
        attributes: {
          ...Object.fromEntries(PLAIN.map(kind => [nameOf(type, kind), kind])),
          [relationOf(type)]: { type: 'relation', relation: 'manyToOne', target: targetOf(type) },
          [nameOf(type, 'component')]: { type: 'component', component: `part.${type}` },
        },
      },
    ]),
  ),
  roles: {
    public: {},
    ...Object.fromEntries(roles.map(({ name, grants }) => [name, { permissions: permissionsOf(grants) }])),
  },
}

const stored = (type: Type, kind: string): unknown => {
  const text = textOf(type, kind)
  if (kind === 'json') return { key: text }
  if (kind === 'blocks') return [{ type: 'paragraph', children: [{ type: 'text', text }] }]
  return text
}

const openApp = once(async () => {
  await bundleConsole()
  const app = await openTestApp(file, { project: PROJECT as never, listen: true })
  const ids = new Map<Type, string>()
  for (const type of TYPES.toReversed()) {
    const data = {
      ...Object.fromEntries(PLAIN.map(kind => [nameOf(type, kind), stored(type, kind)])),
      [nameOf(type, 'component')]: { [nameOf(type, 'inner')]: textOf(type, 'inner') },
      ...(ids.has(targetOf(type)) && { [relationOf(type)]: ids.get(targetOf(type)) }),
    }
    const documents = app.app.documents(`api::${type}.${type}` as 'api::dish.dish')
    const { documentId } = (await documents.create({ data } as never)) as { readonly documentId: string }
    ids.set(type, documentId)
  }
  for (const { name } of roles) await addUser(app, name, name)
  return { app, ids }
})

/** The names and values that a role must not see. */
function hiddenFrom(grants: Readonly<Record<Type, Grants>>): readonly string[] {
  return TYPES.flatMap(type => {
    const reads = grants[type].find ?? []
    const writes = reads.length > 0 ? (grants[type].update ?? []) : []
    const component = nameOf(type, 'component')
    const names = attributesOf(type).filter(name => !reads.includes(name) && !writes.includes(name))
    const values = PLAIN.filter(kind => !reads.includes(nameOf(type, kind))).map(kind => textOf(type, kind))
    return [
      ...names,
      ...(names.includes(component) ? [nameOf(type, 'inner')] : []),
      ...values,
      ...(reads.includes(component) ? [] : [textOf(type, 'inner')]),
    ]
  })
}

const SEEN = `document.documentElement.outerHTML
  + [...document.querySelectorAll('input, textarea, select')].map(({ value }) => value).join()
  + JSON.stringify({ ...localStorage, ...sessionStorage })`

for (const { name, grants } of roles) {
  test.serial(`${name} sees nothing that it may not read`, async t => {
    const { app, ids } = await openApp()
    const page = await openConsole(t)
    const seen: string[] = []
    const look = async () => seen.push(String(await page.browser.evaluate(SEEN)))
    await openSignedIn(page, app.url, name)
    for (const type of TYPES) {
      const offered = await page.browser.evaluate(
        `Boolean(document.querySelector('nav a[href="/console/content/${type}s"]'))`,
      )
      t.is(offered, (grants[type].find ?? []).length > 0, `${type} in the navigation`)
      await page.follow(`/content/${type}s`)
      await page.until(
        offered ? `document.querySelector('tbody tr')` : `document.querySelector('main .empty, main h1')`,
      )
      await look()
      await page.follow(`/content/${type}s/${ids.get(type)}`)
      await page.until(
        offered
          ? `document.querySelector('main form .field')`
          : `document.querySelector('main .empty, main h1')`,
      )
      await look()
    }
    const bodies = await page.browser.bodies()
    t.true(bodies.length > 2)
    const everything = [...seen, ...bodies].join('\n')
    // What is readable is found: the search below can fail.
    for (const type of TYPES)
      for (const kind of ['string', 'text', 'uid'])
        if (grants[type].find?.includes(nameOf(type, kind)))
          t.true(everything.includes(textOf(type, kind)), `${type} ${kind}`)
    t.deepEqual(
      hiddenFrom(grants).filter(word => everything.includes(word)),
      [],
    )
    const addresses = page.browser.requests.map(address => new URL(address))
    t.deepEqual(
      addresses
        .filter(({ protocol }) => protocol !== 'data:')
        .filter(
          ({ origin, pathname }) =>
            origin !== app.url || !/^\/(console(\/|$)|api\/|favicon\.ico$)/.test(pathname),
        )
        .map(({ href }) => href),
      [],
    )
  })
}
