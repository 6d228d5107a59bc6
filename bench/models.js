import { createTestApp } from 'plinth/testing'

// What app.models costs: nothing until its first use, which loads Sequelize and defines the models of 50 content-types.
// In JavaScript, and over the built package: a loader of TypeScript would also be charged for the 180 files of Sequelize.
// npm run build && bash scripts/with-postgres.sh node --expose-gc bench/models.js

const TYPES = 50
const ROUNDS = 7
const CALLS = 200

const project = {
  contentTypes: Object.fromEntries(
    Array.from({ length: TYPES }, (_, at) => [
      `kind-${at}`,
      {
        draftAndPublish: at % 2 === 0,
        attributes: {
          ...{
            title: 'string',
            rank: 'integer',
            body: 'richtext',
            day: 'date',
            data: 'json',
            open: 'boolean',
          },
          next: { type: 'relation', relation: 'manyToOne', target: `kind-${(at + 1) % TYPES}` },
          others: { type: 'relation', relation: 'manyToMany', target: `kind-${(at + 7) % TYPES}` },
        },
      },
    ]),
  ),
}

/** Milliseconds by the clock, and milliseconds of the processor. */
async function costOf(work) {
  const [began, cpu] = [performance.now(), process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(cpu)
  return { wall: performance.now() - began, cpu: (user + system) / 1000 }
}

const median = values => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]

const megabytes = () => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 1e6
}

/** Milliseconds of the processor for one findOne and one create. */
async function callsOf({ app }) {
  const kinds = app.documents('kind-1')
  const { documentId } = await kinds.create({ data: { title: 'a' } })
  const found = await costOf(async () => {
    for (let count = 0; count < CALLS; count++) await kinds.findOne({ documentId })
  })
  const made = await costOf(async () => {
    for (let count = 0; count < CALLS; count++) await kinds.create({ data: { title: 'a', rank: count } })
  })
  return [found.cpu / CALLS, made.cpu / CALLS]
}

const database = process.env.TEST_DATABASE_URL
const opened = await createTestApp({ project, ...(database && { database }) })
await callsOf(opened)
const before = []
for (let round = 0; round < ROUNDS; round++) before.push(await callsOf(opened))
const idle = megabytes()
const first = await costOf(() => opened.app.models)
const used = megabytes()
const again = await costOf(() => opened.app.models)
const after = []
for (let round = 0; round < ROUNDS; round++) after.push(await callsOf(opened))
await opened.close()

const figure = (value, digits = 2) => value.toFixed(digits)
const line = (name, at) =>
  `| ${name}, ms of CPU | ${figure(median(before.map(each => each[at])))} | ${figure(median(after.map(each => each[at])))} |`
console.log(`
first use of ${TYPES} models: ${figure(first.wall, 0)} ms, ${figure(first.cpu, 0)} ms of CPU; the next one: ${figure(again.wall, 3)} ms

| | before the first use | after it |
|---|---|---|
| memory, MB | ${figure(idle, 1)} | ${figure(used, 1)} |
${line('findOne', 0)}
${line('create', 1)}
`)
