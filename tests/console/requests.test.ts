import test from 'ava'
import { once } from '../../core/base/memo.ts'
import type { TestApp } from '../../core/testing.ts'
import { bundleConsole } from '../../scripts/bundle-console.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'
import { addUser, type ConsolePage, openConsole, openSignedIn, PASSWORD } from './open-console.ts'

// Lists, pickers and the library of a large project read one page at a time, whatever is in the database.

const file = teardownOfFile(test.after.always)

const TEAMS = 5000
const FILES = 30

const PROJECT = {
  name: 'League',
  contentTypes: {
    team: { draftAndPublish: true, attributes: { name: 'string', city: 'string' } },
    player: {
      attributes: {
        name: 'string',
        team: { type: 'relation', relation: 'manyToOne', target: 'team' },
        pictures: { type: 'media', multiple: true, allowedTypes: ['images'] },
      },
    },
  },
  roles: { public: {}, editor: { permissions: { '*': '*', upload: '*', users: ['me'] } } },
}

const openApp = once(async () => {
  await bundleConsole()
  const app = await openTestApp(file, { project: PROJECT as never, listen: true })
  await addUser(app, 'editor')
  await app.app.sequelize.query(`
    INSERT INTO teams (document_id, document_key, status, created_at, updated_at, name)
    SELECT 'team' || n, n, 'draft', now() + n * interval '1 second', now(), 'Team ' || n FROM generate_series(1, ${TEAMS}) AS n`)
  await upload(app)
  return app
})

const DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" width="2" height="2"></svg>'

async function upload(app: TestApp): Promise<void> {
  const credentials = { identifier: 'ann', password: PASSWORD }
  const { body } = await app.request('POST', '/api/auth/local', { body: credentials })
  const form = new FormData()
  for (let number = 1; number <= FILES; number++)
    form.append('files', new File([DRAWING], `file-${number}.svg`, { type: 'image/svg+xml' }))
  await app.request('POST', '/api/upload', { body: form, token: (body as { readonly jwt: string }).jwt })
}

const openPage = once(async () => {
  const app = await openApp()
  const page = await openConsole({ teardown: file.teardown })
  await openSignedIn(page, app.url)
  return page
})

interface Read {
  readonly path: string
  readonly start: number
  readonly limit: number
}

/** The reads of lists that a step causes, in their order. */
async function readsOf(run: (page: ConsolePage) => Promise<unknown>): Promise<readonly Read[]> {
  const page = await openPage()
  const before = page.browser.requests.length
  await run(page)
  return page.browser.requests.slice(before).flatMap(url => {
    const { pathname, searchParams } = new URL(url)
    if (!LISTS.has(pathname)) return []
    const number = (name: string) =>
      Number(searchParams.get(`pagination[${name}]`) ?? searchParams.get(name) ?? Number.NaN)
    return [{ path: pathname, start: number('start') || 0, limit: number('limit') }]
  })
}

const LISTS: ReadonlySet<string> = new Set(['/api/teams', '/api/players', '/api/upload/files'])

test.serial('a list reads one page and the states of its documents', async t => {
  const page = (start: number) => [
    { path: '/api/teams', start, limit: 26 },
    { path: '/api/teams', start: 0, limit: 25 },
    { path: '/api/teams', start: 0, limit: 25 },
  ]
  const opened = await readsOf(async ({ follow, until }) => {
    await follow('/content/teams')
    await until(`document.querySelectorAll('tbody .state.draft').length === 25`)
  })
  t.deepEqual(opened, page(0))
  const next = await readsOf(async ({ clickText, until }) => {
    await clickText('Next')
    await until(`/Page 2/.test(document.querySelector('.pages').innerText)`)
    await until(`document.querySelector('tbody a[href*="team${TEAMS - 25}"]')`)
  })
  t.deepEqual(next, page(25))
  const { browser } = await openPage()
  t.is(
    await browser.evaluate(`document.querySelector('tbody a').pathname.split('/').at(-1)`),
    `team${TEAMS - 25}`,
    'the newest are first',
  )
})

test.serial('a picker reads twenty documents, and twenty that match', async t => {
  const opened = await readsOf(async ({ follow, clickIn, until }) => {
    await follow('/content/players/create')
    await clickIn('[data-path=team]', 'Link Team')
    await until(`document.querySelectorAll('.picker li button').length === 20`)
  })
  t.deepEqual(opened, [{ path: '/api/teams', start: 0, limit: 20 }])
  const found = await readsOf(async ({ fill, until }) => {
    await fill('.picker input', `Team ${TEAMS}`)
    await until(`document.querySelectorAll('.picker li button').length === 1`)
  })
  t.deepEqual(found, [{ path: '/api/teams', start: 0, limit: 20 }])
  const { browser } = await openPage()
  t.is(await browser.evaluate(`document.querySelector('.picker li button').innerText`), `Team ${TEAMS}`)
})

test.serial('the library of a field reads one page of files', async t => {
  const opened = await readsOf(async ({ clickIn, until }) => {
    await clickIn('[data-path=pictures]', 'Library')
    await until(`document.querySelectorAll('dialog .files li').length === 24`)
  })
  t.deepEqual(opened, [{ path: '/api/upload/files', start: 0, limit: 25 }])
  const next = await readsOf(async ({ clickIn, until }) => {
    await clickIn('dialog .pages', 'Next')
    await until(`document.querySelectorAll('dialog .files li').length === ${FILES - 24}`)
  })
  t.deepEqual(next, [{ path: '/api/upload/files', start: 24, limit: 25 }])
})

test.serial('a filter by a relation reads the filtered list only', async t => {
  const app = await openApp()
  const data = { name: 'Mira', team: 'team77' }
  await app.app.documents('api::player.player' as 'api::dish.dish').create({ data } as never)
  const filter = JSON.stringify({ where: [{ name: 'team', operator: '$containsi', value: 'team 77' }] })
  const reads = await readsOf(async ({ follow, until }) => {
    await follow(`/content/players?filter=${encodeURIComponent(filter)}`)
    await until(`document.querySelector('tbody tr')`)
  })
  t.deepEqual(reads, [{ path: '/api/players', start: 0, limit: 26 }])
})

test.serial('what is typed while a search is applied is kept', async t => {
  const { follow, fill, until, browser } = await openPage()
  await follow('/content/teams')
  await until(`document.querySelectorAll('tbody tr').length === 25`)
  const input = `document.querySelector('.filters input[type=search]')`
  // The next key is pressed after the address has changed, and before the page is rendered for it.
  await browser.evaluate(`{
    const replace = history.replaceState
    const push = history.pushState
    const change = method => function (...state) {
      method.apply(this, state)
      history.pushState = push
      history.replaceState = replace
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(${input}, 'Team 77')
      ${input}.dispatchEvent(new Event('input', { bubbles: true }))
    }
    history.pushState = change(push)
    history.replaceState = change(replace)
  }`)
  await fill('.filters input[type=search]', 'Team 7')
  await until(`/Team 77/.test(decodeURIComponent(location.search.replaceAll('+', ' ')))`)
  t.is(await browser.evaluate(`${input}.value`), 'Team 77')
})

test.serial('each key that is pressed in a bound of a filter is kept', async t => {
  const { follow, until, browser } = await openPage()
  const filter = JSON.stringify({ where: [{ name: 'name', operator: '$between', value: '' }] })
  await follow(`/content/teams?filter=${encodeURIComponent(filter)}`)
  await until(`document.querySelectorAll('.condition input').length === 2`)
  // The second key comes before the list is loaded for the first one.
  const typed = await browser.evaluate(`(() => {
    const [from] = document.querySelectorAll('.condition input')
    from.focus()
    document.execCommand('insertText', false, 'T')
    document.execCommand('insertText', false, 'e')
    return from.value
  })()`)
  t.is(typed, 'Te')
  await until(`/"Te;"/.test(decodeURIComponent(location.search))`)
})
