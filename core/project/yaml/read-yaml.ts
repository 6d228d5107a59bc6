import { deepFreeze } from '../../base/plain-data.ts'
import { failed, ok, type Result } from '../../base/result.ts'
import type { Diagnostic, Path, SourceLocation } from '../../faults/diagnostic.ts'
import type { Environment } from '../environment.ts'
import { sortDiagnostics } from '../faults.ts'
import { readSource } from '../read-source.ts'
import { namesSecret, type SecretTest } from '../secret-ranges.ts'
import { parseYaml } from './parse-yaml.ts'
import { placeAt } from './source-file.ts'
import { locate, toValue, type YamlNode } from './yaml-tree.ts'

/** A YAML file that was read: its plain value and where everything in it stands. */
export interface YamlSource {
  /** Absolute. */
  readonly file: string
  /** null, booleans, finite numbers, texts, lists and plain objects; frozen. */
  readonly value: unknown
  /** Where a value stands; for a path that is not in the file, its nearest ancestor. */
  place(path: Path): SourceLocation
  /** Where a mapping's key itself stands, not its value. */
  keyPlace(path: Path): SourceLocation
  /** The value was made from environment variables, so it must not be shown. */
  fromEnvironment(path: Path): boolean
}

export interface YamlTerms {
  /** Paths are shown from this folder. */
  readonly root: string
  readonly environment: Environment
  /** Values that are blotted out where lines are quoted; by default those whose key sounds like a secret. */
  readonly isSecret?: SecretTest
}

const soundsSecret: SecretTest = path => namesSecret(path.at(-1))

/** Reads one YAML file under the rules of the project file: limits, places, `${NAME}`; any fault fails it. */
export async function readYaml(file: string, terms: YamlTerms): Promise<Result<YamlSource, Diagnostic>> {
  const source = await readSource(file, terms.root)
  if (!source.ok) return source
  const parsed = parseYaml(source.value, {
    environment: terms.environment,
    isSecret: terms.isSecret ?? soundsSecret,
  })
  if (parsed.tree === undefined || parsed.faults.length > 0) return failed(...sortDiagnostics(parsed.faults))
  return ok(toYamlSource(file, parsed.tree))
}

function toYamlSource(file: string, tree: YamlNode): YamlSource {
  return Object.freeze({
    file,
    value: deepFreeze(toValue(tree)),
    ...placesOf(tree),
    fromEnvironment: environmentTest(tree),
  })
}

const environmentTest = (tree: YamlNode) => (path: Path) => {
  const { node, exact } = locate(tree, path)
  return exact && node.kind === 'scalar' && node.variables.length > 0
}

/** The two questions that checks ask of a tree. */
export function placesOf(tree: YamlNode): {
  place(path: Path): SourceLocation
  keyPlace(path: Path): SourceLocation
} {
  return {
    place: path => placeAt(locate(tree, path).node.mark),
    keyPlace: path => placeAt(locate(tree, path).key),
  }
}
