import type { Diagnostic } from '../faults/diagnostic.ts'
import { checkShape } from './check-shape.ts'
import type { Finding } from './faults.ts'
import type { ProjectFile } from './project-types.ts'
import { placesOf } from './read-yaml.ts'
import { rules } from './rules.ts'
import type { Settings } from './settings.ts'
import { toSettings } from './to-settings.ts'
import type { YamlNode } from './yaml-tree.ts'

/** The merged tree of a project, judged. */
export interface CheckedTree {
  /** Of all that fits the grammar; absent where nothing does. */
  readonly settings?: Settings
  /** What does not fit the grammar. */
  readonly misfits: readonly Diagnostic[]
  /** What fits, and is wrong all the same. */
  readonly faults: readonly Diagnostic[]
}

/** The grammar first; then the rules, on all that fits the grammar. */
export function checkTree(tree: YamlNode): CheckedTree {
  const shape = checkShape(tree)
  const misfits = shape.findings.map(finding => toDiagnostic(finding, tree))
  if (shape.fitting === undefined) return { misfits, faults: [] }
  const settings = toSettings(fits(shape.fitting))
  const touched = new Set(shape.misfits.map(scopeOf))
  const broken = rules.flatMap(rule => [...rule(settings)]).filter(({ path }) => !touched.has(scopeOf(path)))
  return { settings, misfits, faults: broken.map(finding => toDiagnostic(finding, tree)) }
}

/** The schema let it pass, and the type is made from the schema. */
const fits = (value: unknown): ProjectFile => value as ProjectFile

/** How many keys name one thing of a section; elsewhere the section itself is the thing. */
const DEPTH: Readonly<Record<string, number>> = {
  components: 4,
  contentTypes: 4,
  user: 3,
  roles: 2,
  apiTokens: 2,
}

/** Where the grammar found a fault, what a rule finds in the same thing may be its echo. */
const scopeOf = (path: Finding['path']): string => JSON.stringify(path.slice(0, DEPTH[String(path[0])] ?? 1))

function toDiagnostic(finding: Finding, tree: YamlNode): Diagnostic {
  const { place, keyPlace } = placesOf(tree)
  const { code, message, path, atKey, related } = finding
  const also = related && { related: { place: keyPlace(related.path), message: related.message } }
  return { code, message, path, place: atKey ? keyPlace(path) : place(path), ...also }
}
