import type { Diagnostic, Path } from '../../faults/diagnostic.ts'
import type { Finding } from '../faults.ts'
import type { ProjectFile } from '../project-types.ts'
import { rules } from '../rules.ts'
import type { Settings } from '../settings/settings.ts'
import { toSettings } from '../settings/to-settings.ts'
import { placesOf } from '../yaml/read-yaml.ts'
import type { YamlNode } from '../yaml/yaml-tree.ts'
import { checkShape } from './check-shape.ts'
import type { Grammar } from './grammar.ts'

/** The merged tree of a project, judged. */
export interface CheckedTree {
  /** Of all that fits the grammar; absent where nothing does. */
  readonly settings?: Settings
  /** What does not fit the grammar. */
  readonly misfits: readonly Diagnostic[]
  /** What fits, and is wrong all the same. */
  readonly faults: readonly Diagnostic[]
}

/** The grammar first; then, where the tree is whole, the rules, on all that fits the grammar. */
export function checkTree(tree: YamlNode, isWhole: boolean, grammar: Grammar): CheckedTree {
  const shape = checkShape(tree, grammar)
  const misfits = shape.findings.map(finding => toDiagnostic(finding, tree))
  if (shape.fitting === undefined || !isWhole) return { misfits, faults: [] }
  const settings = toSettings(fits(shape.fitting))
  const broken = rules.flatMap(rule => [...rule(settings)]).filter(finding => !isEcho(finding, shape.misfits))
  return { settings, misfits, faults: broken.map(finding => toDiagnostic(finding, tree)) }
}

/** The schema let it pass, and the type is made from the schema. */
const fits = (value: unknown): ProjectFile => value as ProjectFile

/** Things whose parts speak of one another: how many keys name one of them. */
const WHOLES: Readonly<Record<string, number>> = {
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

/** What a rule finds may be the echo of a misfit in the same whole, or of one above or below it. */
function isEcho({ path }: Finding, misfits: readonly Path[]): boolean {
  const whole = WHOLES[String(path[0])] ?? path.length
  const isSame = (misfit: Path, depth: number) =>
    path.slice(0, depth).every((key, index) => key === misfit[index])
  return misfits.some(misfit => isSame(misfit, Math.min(whole, Math.max(misfit.length, 1))))
}

function toDiagnostic(finding: Finding, tree: YamlNode): Diagnostic {
  const { place, keyPlace } = placesOf(tree)
  const { code, message, path, atKey, related } = finding
  const also = related && { related: { place: keyPlace(related.path), message: related.message } }
  return { code, message, path, place: atKey ? keyPlace(path) : place(path), ...also }
}
