import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Name, version and licence of each package that these inputs of a bundle belong to, as Markdown with the licences' texts. */
export function describePackages(inputs, root) {
  const packages = bundledPackages(inputs, root)
  return [
    '# Packages within dist/run',
    '',
    'Their code is part of the files in this folder. Versions are those that this version of Plinth was built and tested with.',
    '',
    '| Package | Version | Licence |',
    '|---|---|---|',
    ...packages.map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`),
    ...packages.flatMap(({ name, text }) => ['', `## ${name}`, '', '```text', text, '```']),
    '',
  ].join('\n')
}

export function bundledPackages(inputs, root) {
  const folders = new Set(inputs.flatMap(path => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []))
  return Array.from(folders, folder => readPackage(join(root, folder))).sort((a, b) =>
    a.name < b.name ? -1 : 1,
  )
}

function readPackage(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find(each => /^(licen[cs]e|copying)(\.(md|txt))?$/i.test(each))
  if (!license) throw new Error(`${name} states no licence; it cannot be bundled.`)
  return {
    name,
    version,
    license,
    text: file ? readFileSync(join(folder, file), 'utf8').trim() : fromReadme(folder, license),
  }
}

/** Some packages have the text of their licence at the end of README.md only, or state only its name. */
function fromReadme(folder, license) {
  const file = join(folder, 'README.md')
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  return /\n#+ licen[cs]e\s*\n([\s\S]*?)(?=\n#|$)/i.exec(text)?.[1]?.trim() ?? license
}
