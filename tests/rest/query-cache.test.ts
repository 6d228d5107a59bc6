import test from 'ava'
import type { Caller } from '../../core/access/caller.ts'
import { compileAccess } from '../../core/access/compile/compile-access.ts'
import { restrict } from '../../core/access/restrict/restrict.ts'
import { attempt } from '../../core/faults/fault.ts'
import { parseListSearch, parseOneSearch, restrictOnce } from '../../core/rest/perform-action.ts'
import { compiled } from '../model/compiled.ts'
import { declare } from '../model/declare.ts'

const YAML = `
contentTypes:
  note: { attributes: { title: string, mood: string } }
roles:
  public: { permissions: { note: { find: { where: { mood: { $eq: open } } } } } }
  authenticated: { permissions: { note: { find: { where: { mood: { $eq: $user.username } } } } } }
apiTokens:
  full: { type: full-access, secret: full-access-token-for-the-tests-0000 }
  none: { type: custom, secret: custom-token-for-the-tests-000000000, permissions: { } }
`

async function noted() {
  const project = await declare(YAML)
  const model = compiled(project)
  const access = compileAccess(project, model)
  if (!access.ok) throw new Error(access.reasons.map(({ message }) => message).join('\n'))
  const type = model.contentTypes.get('api::note.note')
  const token = (name: string): Caller => {
    const grants = access.value.tokens.get(name)
    if (!grants) throw new Error(`no ${name}`)
    return { kind: 'token', grants, user: null }
  }
  const user = (username: string): Caller => {
    const grants = access.value.roles.get('authenticated')
    if (!grants) throw new Error('no role')
    return { kind: 'user', grants, user: { username } }
  }
  if (!type) throw new Error('no type')
  return {
    type,
    token,
    user,
    anonymous: access.value.publicCaller,
    options: { model, settings: project.settings.rest },
  }
}

const text = 'filters[title][$eq]=a&sort=title'

test('one query text is parsed once, and restricted for each caller', async t => {
  const { type, token, user, anonymous, options } = await noted()
  const list = parseListSearch(type, { search: text }, options)
  t.is(parseListSearch(type, { search: text }, options), list)
  const filterOf = (caller: Caller) => {
    const seen = attempt(() => restrictOnce(list, caller, () => restrict(list.parsed.query, caller)))
    return seen.ok
      ? JSON.stringify(seen.value.filter, ['kind', 'filters', 'values', 'operator'])
      : seen.reasons[0]?.code
  }
  for (let time = 0; time < 2; time++) {
    t.false(filterOf(token('full'))?.includes('open'))
    t.true(filterOf(anonymous)?.includes('open'))
    t.true(filterOf(user('ann'))?.includes('ann'))
    t.true(filterOf(user('ben'))?.includes('ben'))
    t.is(filterOf(token('none')), 'forbidden')
  }
})

test('the same text for another project, or with other limits, is parsed separately', async t => {
  const [one, other] = [await noted(), await noted()]
  const typeOf = (asked: typeof one, options = asked.options) =>
    parseListSearch(asked.type, { search: text }, options)
  const first = typeOf(one)
  t.not(typeOf(other), first)
  const few = typeOf(one, { ...one.options, settings: { ...one.options.settings, defaultLimit: 3 } })
  t.not(few, first)
})

test('refused queries are refused every time', async t => {
  const { type, options } = await noted()
  for (let time = 0; time < 2; time++) {
    const refused = t.throws(() => parseListSearch(type, { search: 'filters[nothing][$eq]=a' }, options))
    t.is(refused?.message, 'Invalid key nothing')
  }
})

test('a text for one document is cached for all of them, and separately for a list', async t => {
  const { type, token, options } = await noted()
  const caller = token('full')
  const one = parseOneSearch(type, { search: 'fields=title' }, options)
  t.is(parseOneSearch(type, { search: 'fields=title' }, options), one)
  t.is(one.parsed.take.kind, 'one')
  const list = parseListSearch(type, { search: 'fields=title' }, options)
  t.is(list.parsed.query.take.kind, 'many')
  const see = () => restrict(one.parsed, caller)
  t.is(restrictOnce(one, caller, see), restrictOnce(one, caller, see))
})
