import { setTimeout as pause } from 'node:timers/promises'
import { temporaryFolder } from '../tests/harness/folder.ts'
import { freshDatabase } from '../tests/harness/test-database.ts'
import { startPlinth } from './process.ts'

const MANY_TYPES = 500

export async function measureManyTypes(): Promise<readonly string[]> {
  const folder = temporaryFolder()
  const database = await freshDatabase()
  try {
    folder.write('project.yaml', manyTypes(MANY_TYPES))
    const first = await startPlinth(folder.path, database.url)
    await first.stop()
    const second = await startPlinth(folder.path, database.url)
    await pause(2000)
    const memory = second.memory()
    await second.stop()
    return [
      `| ${MANY_TYPES} content-types | measured | goal |`,
      '|---|---|---|',
      `| first start, making the tables | ${Math.round(first.startedIn)} ms | |`,
      `| start on a migrated database | ${Math.round(second.startedIn)} ms | ≤ 5000 ms |`,
      `| memory when idle | ${Math.round(memory)} MB | |`,
    ]
  } finally {
    await database.drop()
    folder.remove()
  }
}

/** A project file; of the first type everybody may read. */
export function manyTypes(count: number): string {
  const type = (number: number) => `  thing-${number}:
    draftAndPublish: ${number % 2 === 0}
    attributes:
      name: { type: string, required: true }
      text: richtext
      count: integer
      price: decimal
      day: date
      kind: { type: enumeration, enum: [one, two] }
      next: { type: relation, relation: manyToOne, target: thing-${(number + 1) % count} }
      others: { type: relation, relation: manyToMany, target: thing-${(number + 7) % count} }`
  const types = Array.from({ length: count }, (_, number) => type(number)).join('\n')
  return [
    'name: Many',
    'server: { host: 127.0.0.1, port: "${PORT}", logLevel: warn }',
    'database: { url: "${DATABASE_URL}" }',
    'auth: { jwtSecret: "${JWT_SECRET}" }',
    `contentTypes:\n${types}`,
    'cache: { enabled: false }',
    'roles: { public: { permissions: { thing-0: [find, findOne] } } }',
    '',
  ].join('\n')
}
