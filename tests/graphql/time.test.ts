import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { openEndpoint } from './endpoint.ts'

const PROJECT = `
contentTypes:
  book: { attributes: { title: string } }
  pen: { attributes: { colour: string } }
roles:
  public: { permissions: { book: [find], pen: [find] } }
graphql: { config: { limits: { time: 1500ms } } }
`

test('an operation over limits.time is answered with an error, and its statements are cancelled', async t => {
  const { create, post, database } = await openEndpoint(t, PROJECT)
  await create('book', { title: 'Solaris' })
  const slow = { query: '{ books { data { attributes { title } } } }' }
  await database.transaction(async transaction => {
    await transaction.run({ text: 'LOCK TABLE books IN ACCESS EXCLUSIVE MODE', values: [] })
    const { status, body } = await post([slow, { query: '{ __typename }' }])
    t.is(status, 200)
    for (const { data, errors } of body) {
      t.is(data, null)
      t.regex(
        errors[0].message,
        /longer than the 1500 ms that graphql\.config\.limits\.time in project\.yaml allows/,
      )
      t.is(errors[0].extensions.code, 'OPERATION_TIMED_OUT')
    }
    const waiting = async () => {
      const text = "SELECT count(*)::int FROM pg_locks WHERE NOT granted AND relation = 'books'::regclass"
      return (await transaction.run({ text, values: [] })).rows[0]?.[0]
    }
    for (let tries = 0; tries < 100 && (await waiting()) !== 0; tries++) await pause(50)
    t.is(await waiting(), 0)
  })
  t.deepEqual((await post(slow)).body, { data: { books: { data: [{ attributes: { title: 'Solaris' } }] } } })
})
