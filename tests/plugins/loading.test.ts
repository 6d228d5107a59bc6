import { symlinkSync, unlinkSync } from 'node:fs'
import test, { type ExecutionContext } from 'ava'
import { compileApp } from '../../core/app/compile-app.ts'
import { printDiagnostic } from '../../core/faults/diagnostic.ts'
import { type Folder, temporaryFolder } from '../harness/folder.ts'

// Faults of plugins and of their uses in project.yaml are reported before anything starts.

const PROJECT = `name: Notes
contentTypes:
  note: { attributes: { text: string } }
`
const POLICY = `import { definePolicy } from 'plinth'
export default definePolicy<{ field: string }>({
  configSchema: { type: 'object', properties: { field: { type: 'string' } }, required: ['field'], additionalProperties: false },
  check: () => true,
})
`
const MIDDLEWARE = `import { defineMiddleware } from 'plinth'
export default defineMiddleware({ route: () => (context, next) => next() })
`

function project(t: ExecutionContext, yaml = '', files: Readonly<Record<string, string>> = {}): Folder {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', PROJECT + yaml)
  for (const [name, text] of Object.entries(files)) folder.write(name, text)
  return folder
}

/** First lines of the diagnostics, without the quoted source. */
async function reportedOf(folder: Folder): Promise<readonly string[]> {
  const compiled = await compileApp(folder.path, {})
  return compiled.ok ? [] : compiled.reasons.map(fault => printDiagnostic(fault).split('\n')[0] ?? '')
}

test('TypeScript and JavaScript load without a build step, under the names of their files and folders', async t => {
  const folder = project(
    t,
    `routesConfig: { note.find: { policies: [{ name: billing/has-plan, config: { field: a } }, plain, old], middlewares: [round] } }
`,
    {
      'policies/billing/has-plan.ts': POLICY,
      'policies/plain.mjs':
        "import { definePolicy } from 'plinth'\nexport default definePolicy(() => true)\n",
      'policies/old.cjs':
        "const { definePolicy } = require('plinth')\nmodule.exports = definePolicy(() => true)\n",
      'policies/README.md': 'no module',
      'policies/types.d.ts': 'export type Nothing = never\n',
      'middlewares/round.ts': `import { shared } from '../lib/shared.ts'\nimport type { RouteMiddleware } from 'plinth'\n${MIDDLEWARE}export const kept: [number, RouteMiddleware | null] = [shared, null]\n`,
      'lib/shared.ts': 'export const shared: number = await Promise.resolve(1)\n',
      'extensions/nothing.ts':
        "import { defineExtension } from 'plinth'\nexport default defineExtension({})\n",
    },
  )
  t.deepEqual(await reportedOf(folder), [])
  const compiled = await compileApp(folder.path, {})
  if (!compiled.ok) return t.fail()
  const { policies, middlewares, extensions } = compiled.value.plugins
  t.deepEqual([...policies.keys()], ['billing/has-plan', 'old', 'plain'])
  t.deepEqual([...middlewares.keys(), ...extensions.keys()], ['round', 'nothing'])
})

test('every load reads a module and its imports again', async t => {
  const folder = project(t, 'routesConfig: { note.find: { policies: [broken] } }\n', {
    'policies/broken.ts': "import { text } from '../lib/text.ts'\nthrow new Error(text)\n",
    'lib/text.ts': "export const text = 'one'\n",
  })
  t.deepEqual(await reportedOf(folder), ['policies/broken.ts:2:7 the module cannot be loaded: one'])
  folder.write('lib/text.ts', "export const text = 'two'\n")
  t.deepEqual(await reportedOf(folder), ['policies/broken.ts:2:7 the module cannot be loaded: two'])
})

test('every load also reads a module again through a symbolic link to the project', async t => {
  const folder = project(t, 'routesConfig: { note.find: { policies: [broken] } }\n', {
    'policies/broken.ts': "import { text } from '../lib/text.ts'\nthrow new Error(text)\n",
    'lib/text.ts': "export const text = 'one'\n",
  })
  const link = `${folder.path}-link`
  symlinkSync(folder.path, link)
  t.teardown(() => unlinkSync(link))
  const linked = { ...folder, path: link }
  t.deepEqual(await reportedOf(linked), ['policies/broken.ts:2:7 the module cannot be loaded: one'])
  folder.write('lib/text.ts', "export const text = 'two'\n")
  t.deepEqual(await reportedOf(linked), ['policies/broken.ts:2:7 the module cannot be loaded: two'])
})

test('a plugin that another one imports is loaded once through a symbolic link to the project', async t => {
  const folder = project(t, '', {
    'extensions/first.ts':
      "import { defineExtension } from 'plinth'\nexport default defineExtension({ bootstrap() {} })\n",
    'extensions/second.ts': `import { defineExtension } from 'plinth'
import first from './first.ts'
import '../lib/fault.ts'
export default defineExtension({ bootstrap: first.bootstrap })
`,
    'lib/fault.ts': 'export const none = ;\n',
  })
  const link = `${folder.path}-link`
  symlinkSync(folder.path, link)
  t.teardown(() => unlinkSync(link))
  const linked = { ...folder, path: link }
  t.deepEqual(await reportedOf(linked), [
    'lib/fault.ts:1:21 extensions/second.ts imports this, and it cannot be loaded: Unexpected token',
  ])
  folder.write('lib/fault.ts', 'export const none = 1\n')
  const compiled = await compileApp(link, {})
  if (!compiled.ok) return t.fail()
  const { extensions } = compiled.value.plugins
  t.truthy(extensions.get('first')?.bootstrap)
  t.is(extensions.get('first')?.bootstrap, extensions.get('second')?.bootstrap)
})

test('invalid modules are reported with their positions, all together', async t => {
  const folder = project(t, '', {
    'policies/Big_Name.ts': POLICY,
    'policies/throws.ts': 'const limit: number = 5\n\nthrow new TypeError(`no plans below ${limit}`)\n',
    'policies/broken.ts': 'export default {\n  a: 1\n  b: 2\n}\n',
    'policies/lost.ts': "import { nothing } from './nowhere.ts'\nexport default nothing\n",
    'policies/twice.ts': POLICY,
    'policies/twice.js': "import { definePolicy } from 'plinth'\nexport default definePolicy(() => true)\n",
    'policies/schema.ts': POLICY.replace("type: 'string'", "type: 'strings'"),
    'policies/schema-keyword.ts': POLICY.replace('required:', 'requird:'),
    'policies/schema-note.ts': POLICY.replace("type: 'string'", "type: 'string', 'x-note': 'free'"),
    'middlewares/policy.ts': POLICY,
    'extensions/number.ts': 'export default 5\n',
    'extensions/nothing.ts': 'export const named = 5\n',
  })
  t.deepEqual(await reportedOf(folder), [
    "policies/Big_Name.ts:1:1 `Big_Name` is no name for a policy: it is the file's, in small letters and hyphens, such as `has-role.ts`; what several modules share lies outside policies/",
    'policies/twice.ts:1:1 policies/twice.js is the policy `twice` already',
    'policies/broken.ts:3:3 the module cannot be loaded: Unexpected token, expected ","',
    "policies/lost.ts:1:1 the module cannot be loaded: Cannot find module './nowhere.ts'",
    'policies/throws.ts:3:7 the module cannot be loaded: no plans below 5',
    'middlewares/policy.ts:2:1 expected `export default defineMiddleware(…)`, found a policy, which belongs into policies/',
    'extensions/nothing.ts:1:1 expected `export default defineExtension(…)`, found no default export, but `named`',
    'extensions/number.ts:1:1 expected `export default defineExtension(…)`, found a number',
    'policies/schema-keyword.ts:3:3 its `configSchema` is no JSON Schema: unknown keyword `requird`: did you mean `required`? (keywords of your own begin with `x-`)',
    'policies/schema.ts:3:3 its `configSchema` is no JSON Schema: type must be JSONType or JSONType[]: strings',
  ])
})

test('references to plugins in the project file are checked, with the nearest name', async t => {
  const folder = project(
    t,
    `middlewares: [nowhere, round]
routesConfig:
  note.find: { policies: [owns-documnt, { name: owns-document, config: { fild: 3 } }, { name: owns-document, config: { field: 3 } }] }
  note.update: { policies: [owns-document], middlewares: [roundd], auth: { scope: [api::note.note.fnd] } }
  users.mee: { auth: false }
resolversConfig:
  Query.notes: { middlewares: [round] }
`,
    { 'policies/owns-document.ts': POLICY, 'middlewares/round.ts': MIDDLEWARE },
  )
  t.deepEqual(await reportedOf(folder), [
    'project.yaml:4:15 unknown middleware `nowhere`: there is no middlewares/nowhere.ts (middlewares[0])',
    'project.yaml:4:24 middlewares/round.ts cannot wrap every request: it has no `express`, but `route`. Add `express` to defineMiddleware(…) (middlewares[1])',
    'project.yaml:6:27 unknown policy `owns-documnt`: did you mean `owns-document`? (routesConfig["note.find"].policies[0])',
    'project.yaml:6:72 policies/owns-document.ts does not take this: missing key `field` (routesConfig["note.find"].policies[1].config)',
    'project.yaml:6:80 policies/owns-document.ts does not take this `fild`: unknown key `fild`: did you mean `field`? (routesConfig["note.find"].policies[1].config.fild)',
    'project.yaml:6:127 policies/owns-document.ts does not take this `field`: expected string (routesConfig["note.find"].policies[2].config.field)',
    'project.yaml:7:84 unknown permission `api::note.note.fnd`: did you mean `api::note.note.find`? (routesConfig["note.update"].auth.scope[0])',
    'project.yaml:7:29 policies/owns-document.ts does not take this: missing key `field` (routesConfig["note.update"].policies[0].config)',
    'project.yaml:7:59 unknown middleware `roundd`: did you mean `round`? (routesConfig["note.update"].middlewares[0])',
    'project.yaml:8:3 `users` has no route `mee`: did you mean `me`? (routesConfig["users.mee"])',
    'project.yaml:10:32 middlewares/round.ts cannot wrap a resolver: it has no `resolver`, but `route`. Add `resolver` to defineMiddleware(…) (resolversConfig["Query.notes"].middlewares[0])',
  ])
})

test('unknown plugins are reported together with faults of content-types', async t => {
  const folder = project(
    t,
    `middlewares: [rond]
user: { attributes: { books: { type: relation, relation: oneToMany, target: bok } } }
routesConfig:
  note.find: { policies: [owns-documnt, owns-document], middlewares: [round] }
`,
    { 'policies/owns-document.ts': POLICY, 'middlewares/round.ts': MIDDLEWARE },
  )
  t.deepEqual(await reportedOf(folder), [
    'project.yaml:5:77 unknown target `bok` (user.attributes.books.target)',
    'project.yaml:4:15 unknown middleware `rond`: did you mean `round`? (middlewares[0])',
    'project.yaml:7:27 unknown policy `owns-documnt`: did you mean `owns-document`? (routesConfig["note.find"].policies[0])',
  ])
})

test('a default import of a CommonJS package works after each reload', async t => {
  const folder = project(t, '', {
    'node_modules/shout/package.json': '{ "name": "shout", "main": "index.js" }',
    'node_modules/shout/index.js': 'module.exports = text => text.toUpperCase()\nmodule.exports.sign = "!"\n',
    'policies/loud.ts': `import express, { Router } from 'express'
import shout, { sign } from 'shout'
import { definePolicy } from 'plinth'
if (shout('a') + sign !== 'A!' || typeof express.json !== 'function' || typeof Router !== 'function') throw new Error('wrong')
export default definePolicy(() => true)\n`,
  })
  for (let reload = 0; reload < 3; reload++) t.deepEqual(await reportedOf(folder), [], String(reload))
})
