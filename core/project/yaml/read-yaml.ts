import { deepFreeze } from '../../base/plain-data.ts'
import { failed, ok, type Result } from '../../base/result.ts'
import type { Diagnostic, Path, SourceLocation } from '../../faults/diagnostic.ts'
import type { Environment } from '../environment.ts'
import { sortDiagnostics } from '../faults.ts'
import { looksSecret } from '../secret-ranges.ts'
import { parseYaml } from './parse-yaml.ts'
import { locationAt, readSource, type SecretTest } from './source-file.ts'
import { locate, toValue, type YamlNode } from './yaml-tree.ts'

/** A parsed YAML file: its plain value and the locations of all its parts. */
export interface YamlSource {
  /** Absolute. */
  readonly file: string
  /** null, booleans, finite numbers, texts, lists and plain objects; frozen. */
  readonly value: unknown
  /** The location of a value; for a path that is not in the file, of its nearest ancestor. */
  location(path: Path): SourceLocation
  /** The location of a mapping's key instead of its value. */
  keyLocation(path: Path): SourceLocation
  /** True if the value contains environment variables, so that it must not be printed. */
  fromEnvironment(path: Path): boolean
}

export interface YamlOptions {
  /** Printed paths are relative to this folder. */
  readonly root: string
  readonly environment: Environment
  /** Values to mask when lines are quoted. Default: keys whose name suggests a secret. */
  readonly isSecret?: SecretTest
}

const soundsSecret: SecretTest = path => looksSecret(path.at(-1))

/** Reads one YAML file by the rules of the project file: limits, locations, `${NAME}`. Fails with every fault. */
export async function readYaml(file: string, options: YamlOptions): Promise<Result<YamlSource, Diagnostic>> {
  const source = await readSource(file, options.root)
  if (!source.ok) return source
  const parsed = parseYaml(source.value, {
    environment: options.environment,
    isSecret: options.isSecret ?? soundsSecret,
  })
  if (parsed.tree === undefined || parsed.faults.length > 0) return failed(...sortDiagnostics(parsed.faults))
  return ok(toYamlSource(file, parsed.tree))
}

function toYamlSource(file: string, tree: YamlNode): YamlSource {
  return Object.freeze({
    file,
    value: deepFreeze(toValue(tree)),
    ...locationLookup(tree),
    fromEnvironment: environmentTest(tree),
  })
}

const environmentTest = (tree: YamlNode) => (path: Path) => {
  const { node, exact } = locate(tree, path)
  return exact && node.kind === 'scalar' && node.variables.length > 0
}

/** A value that a file, an option or the environment gives. */
export interface WrittenValue {
  readonly location: SourceLocation
  /** The environment variables in it. */
  readonly variables: readonly string[]
}

/** Looks up locations in a tree. */
export function locationLookup(tree: YamlNode): {
  location(path: Path): SourceLocation
  keyLocation(path: Path): SourceLocation
  writtenAt(path: Path): WrittenValue | null
} {
  return {
    writtenAt(path) {
      const { node, exact } = locate(tree, path)
      // A short form gives the values of all keys below it.
      if (!exact && (node.kind === 'map' || node.mark === tree.mark)) return null
      return { location: locationAt(node.mark), variables: node.kind === 'scalar' ? node.variables : [] }
    },
    location: path => locationAt(locate(tree, path).node.mark),
    keyLocation: path => locationAt(locate(tree, path).key),
  }
}
