import { didYouMean } from '../../../core/base/nearest.ts'
import { failed, ok, type Result } from '../../../core/base/result.ts'
import { isBody } from '../../../core/documents/values/parse-item.ts'
import type { Holder, Model } from '../../../core/model/model.ts'
import { describeAttributes, describeType } from '../describe.ts'
import { parseJsonLine } from '../parse-line.ts'
import { type DescribedAttributes, type DescribedType, FORMAT, type Header } from '../stream.ts'

/** Parses the header. Fails with every fault. */
export function parseHeader(bytes: Buffer): Result<Header, string> {
  const body = parseJsonLine(bytes)
  if (!body.ok) return failed(...body.reasons.map(reason => `${reason}; ${NO_HEADER}`))
  const { plinth, format, types, components, passwords, locales } = body.value
  if (plinth !== 'documents') return failed(NO_HEADER)
  if (format !== FORMAT)
    return failed(
      `the stream has format ${JSON.stringify(format)}, and this version of Plinth reads ${FORMAT}`,
    )
  const isWhole =
    isBody(types) &&
    Object.values(types).every(isDescribedType) &&
    isBody(components) &&
    Object.values(components).every(isDescribed) &&
    typeof passwords === 'boolean' &&
    Array.isArray(locales)
  if (!isWhole)
    return failed(
      'the first line lacks `types`, `components`, `locales` or `passwords`, or they are not what they should be',
    )
  // Safe: every part was just validated.
  return ok(body.value as unknown as Header)
}

const NO_HEADER = 'a stream begins with the line of `plinth export` that says what its documents fit'

const isDescribed = (value: unknown): value is DescribedAttributes =>
  isBody(value) && Object.values(value).every(word => typeof word === 'string')

const isDescribedType = (value: unknown): value is DescribedType =>
  isBody(value) &&
  typeof value.draftAndPublish === 'boolean' &&
  typeof value.localized === 'boolean' &&
  isDescribed(value.attributes)

/** The mismatches between the stream's types and the project's, one sentence each. The project may have more attributes. */
export function checkHeader({ types, components }: Header, model: Model): readonly string[] {
  const typeFaults = Object.entries(types).flatMap(([uid, described]) => {
    const type = model.contentTypes.get(uid)
    if (!type)
      return [`the project has no content-type \`${uid}\`${didYouMean(uid, model.contentTypes.keys())}`]
    const own = describeType(type)
    return [
      ...(['draftAndPublish', 'localized'] as const).flatMap(flag =>
        described[flag] === own[flag]
          ? []
          : [
              `\`${flag}\` of \`${type.key}\` is ${described[flag]} in the stream and ${own[flag]} in the project`,
            ],
      ),
      ...misfits(type.key, type, described.attributes),
    ]
  })
  const componentFaults = Object.entries(components).flatMap(([uid, described]) => {
    const component = model.components.get(uid)
    if (component) return misfits(uid, component, described)
    return [`the project has no component \`${uid}\`${didYouMean(uid, model.components.keys())}`]
  })
  return [...typeFaults, ...componentFaults]
}

function misfits(name: string, holder: Holder, described: DescribedAttributes): readonly string[] {
  const own = describeAttributes(holder)
  return Object.entries(described).flatMap(([attribute, word]) => {
    const ours = own[attribute]
    if (ours === undefined)
      return [
        `\`${name}\` has no attribute \`${attribute}\` (${word})${didYouMean(attribute, Object.keys(own))}`,
      ]
    return fits(word, ours)
      ? []
      : [`\`${name}.${attribute}\` is \`${word}\` in the stream and \`${ours}\` in the project`]
  })
}

/** Scalar values are converted individually; a list of components or links also accepts a single one. */
const fits = (word: string, ours: string): boolean =>
  word === ours || (isScalar(word) && isScalar(ours)) || `${word}[]` === ours || isWiderZone(word, ours)

const isScalar = (word: string): boolean =>
  word !== 'password' && !/^(component|zone|media|relation)\b/.test(word)

const isWiderZone = (word: string, ours: string): boolean =>
  word.startsWith('zone ') &&
  ours.startsWith('zone ') &&
  partsOf(word).every(component => partsOf(ours).includes(component))

const partsOf = (zone: string): readonly string[] => zone.slice('zone '.length).split(', ')
