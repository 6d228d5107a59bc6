import { isRecord } from '../base/plain-data.ts'
import type { Diagnostic, Path } from '../faults/diagnostic.ts'
import { rules } from './checks/rules.ts'
import type { ProjectFinding } from './faults.ts'
import { checkShape } from './grammar/check-shape.ts'
import type { Grammar } from './grammar/grammar.ts'
import { deriveDefaults, type IsWritten } from './settings/derive-defaults.ts'
import { fillDefaults } from './settings/fill-defaults.ts'
import type { Settings } from './settings/settings.ts'
import { locationLookup } from './yaml/read-yaml.ts'
import type { YamlNode } from './yaml/yaml-tree.ts'

/** The result of checking a project's merged tree. */
export interface CheckedTree {
  /** The settings of all parts that match the schema; absent if nothing does. */
  readonly settings?: Settings
  /** Parts that do not match the schema. */
  readonly misfits: readonly Diagnostic[]
  /** Violations of the rules. */
  readonly faults: readonly Diagnostic[]
}

/** Validates against the schema; then, if the tree is complete, applies the rules to all parts that match the schema. */
export function checkTree(tree: YamlNode, isWhole: boolean, grammar: Grammar): CheckedTree {
  const shape = checkShape(tree, grammar)
  const misfits = shape.findings.map(finding => toDiagnostic(finding, tree))
  if (shape.fitting === undefined || !isWhole) return { misfits, faults: [] }
  const isWritten = writtenIn(shape.fitting)
  const settings = deriveDefaults(asSettings(fillDefaults(shape.fitting, grammar.schema)), isWritten)
  const broken = rules
    .flatMap(rule => [...rule(settings, isWritten)])
    .filter(finding => !isConsequence(finding, shape.misfits))
  return { settings, misfits, faults: broken.map(finding => toDiagnostic(finding, tree)) }
}

/** Safe: the schema accepted the file, and the type is generated from the same schema. */
const asSettings = (filled: unknown): Settings => filled as Settings

const writtenIn =
  (file: unknown): IsWritten =>
  (...path) => {
    const holder = path.slice(0, -1).reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), file)
    return isRecord(holder) && Object.hasOwn(holder, path.at(-1) ?? '')
  }

/** By section: the number of path keys that identify a unit, whose parts depend on each other. */
const UNIT_DEPTHS: Readonly<Record<string, number>> = {
  ...{
    server: 2,
    i18n: 1,
    rest: 1,
    graphql: 3,
    components: 4,
    contentTypes: 4,
    user: 3,
    apiTokens: 2,
    upload: 1,
  },
}

/** Whether a finding may be a consequence of a schema mismatch in the same unit, or above or below it. */
function isConsequence({ path }: ProjectFinding, misfits: readonly Path[]): boolean {
  const whole = UNIT_DEPTHS[String(path[0])] ?? path.length
  const isSame = (misfit: Path, depth: number) =>
    path.slice(0, depth).every((key, index) => key === misfit[index])
  return misfits.some(misfit => isSame(misfit, Math.min(whole, Math.max(misfit.length, 1))))
}

function toDiagnostic(finding: ProjectFinding, tree: YamlNode): Diagnostic {
  const { place, keyPlace } = locationLookup(tree)
  const { code, message, path, atKey, related } = finding
  const also = related && { related: { place: keyPlace(related.path), message: related.message } }
  return { code, message, path, place: atKey ? keyPlace(path) : place(path), ...also }
}
