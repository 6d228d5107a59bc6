import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { ValidateFunction } from 'ajv'
import test from 'ava'
import { parse } from 'yaml'
import { compileGrammar, printGrammar } from '../../core/project/grammar/compile-grammar.ts'
import { readProjectSchema } from '../../core/project/grammar/project-schema.ts'

const root = join(import.meta.dirname, '../..')

/** Every project file of the tests that is YAML at all. */
const values = readdirSync(join(root, 'tests'), { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.yaml') && !name.includes('node_modules'))
  .flatMap(name => {
    try {
      return [{ name, value: parse(readFileSync(join(root, 'tests', name), 'utf8')) as unknown }]
    } catch {
      return []
    }
  })

test('the grammar printed by a build finds the same errors as the compiled one', t => {
  const folder = join(root, 'node_modules/.cache/plinth')
  const file = join(folder, `grammar-of-test-${process.pid}.cjs`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(file, printGrammar(readProjectSchema()))
  t.teardown(() => rmSync(file))
  const printed: ValidateFunction = createRequire(import.meta.url)(file)
  const compiled = compileGrammar(readProjectSchema())
  const isGood = values.map(({ name, value }) => {
    const [fits, same] = [compiled(value), printed(value)]
    t.is(same, fits, name)
    t.deepEqual(printed.errors, compiled.errors, name)
    return fits
  })
  t.true(isGood.includes(true) && isGood.filter(fits => !fits).length >= 60)
})
