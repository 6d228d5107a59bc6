import type { Path, SourceLocation } from '../../../core/faults/diagnostic.ts'
import type { Project } from '../../../core/project/project.ts'

/** `project.yaml:12:5` */
export const spotOf = ({ file, line, column }: SourceLocation): string => `${file}:${line}:${column}`

/** Where a thing stands, for programs: `source` is the whole line. */
export const placeJson = ({ file, line, column, source }: SourceLocation) => ({ file, line, column, source })

/** Numbers of lines, `130, 134-136`; with what their file goes by where it is not the project file. */
export function linesOf(
  paths: readonly Path[],
  project: Project,
  nameOf: (file: string) => string = file => file,
): readonly string[] {
  const files = new Map<string, Set<number>>()
  for (const { file, line } of paths.map(project.keyPlace)) {
    files.set(file, (files.get(file) ?? new Set()).add(line))
  }
  return [...files].flatMap(([file, lines]) => {
    const prefix = file === PROJECT_FILE ? '' : `${nameOf(file)}:`
    return toRanges([...lines].toSorted((a, b) => a - b)).map(range => prefix + range)
  })
}

const PROJECT_FILE = 'project.yaml'

function toRanges(lines: readonly number[]): readonly string[] {
  const ranges: [number, number][] = []
  for (const line of lines) {
    const last = ranges.at(-1)
    if (last && line === last[1] + 1) last[1] = line
    else ranges.push([line, line])
  }
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`))
}
