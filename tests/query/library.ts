import type { Result } from '../../core/base/result.ts'
import type { Fault } from '../../core/faults/fault.ts'
import type { ContentType, Holder, Model } from '../../core/model/model.ts'
import { holderOf, modelOf } from '../model/compiled.ts'

/** A model with every type of attribute, links both ways, components, a zone, drafts and locales. */
export const library = (): Promise<Model> =>
  modelOf(`
i18n: { locales: [en, fr], defaultLocale: en }
components:
  parts.meta: { attributes: { label: string, image: { type: media, multiple: false }, hidden: { type: string, private: true } } }
  parts.quote: { attributes: { text: text, by: { type: relation, relation: oneToOne, target: person } } }
  parts.gallery: { attributes: { title: string, images: { type: media, multiple: true }, metas: { type: component, component: parts.meta, repeatable: true } } }
  parts.other: { attributes: { label: string } }
contentTypes:
  person:
    pluralApiId: people
    attributes:
      name: string
      secret: { type: string, private: true }
      pin: password
      books: { type: relation, relation: oneToMany, target: book, mappedBy: author }
  book:
    draftAndPublish: true
    localized: true
    attributes:
      title: string
      text: text
      prose: richtext
      content: blocks
      kind: { type: enumeration, enum: [novel, essay] }
      contact: email
      slug: { type: uid, targetField: title }
      day: { type: date, localized: false }
      at: { type: time, localized: false }
      moment: { type: datetime, localized: false }
      stamp: { type: timestamp, localized: false }
      pages: { type: integer, localized: false }
      sold: { type: biginteger, localized: false }
      weight: { type: float, localized: false }
      price: { type: decimal, localized: false }
      printed: { type: boolean, localized: false }
      data: { type: json, localized: false }
      tags: { type: array, localized: false }
      author: { type: relation, relation: manyToOne, target: person, inversedBy: books }
      sequels: { type: relation, relation: oneToMany, target: book }
      cover: { type: media, multiple: false }
      meta: { type: component, component: parts.meta }
      metas: { type: component, component: parts.meta, repeatable: true }
      zone: { type: dynamiczone, components: [parts.quote, parts.gallery] }
  landing:
    kind: single
    attributes: { title: string }
`)

export function typeOf(model: Model, key: string): ContentType {
  const holder: Holder = holderOf(model, key)
  if (holder.holder === 'component') throw new Error(`${key} is a component`)
  return holder
}

/** The message of a fault and, where it has one, the place: `Invalid key x at a | a filters`. */
export function faultText(result: Result<unknown, Fault>): string {
  const [fault] = result.ok ? [] : result.reasons
  if (!fault) return 'no fault'
  const { path, param } = fault.details
  return param === undefined ? fault.message : `${fault.message} | ${String(path)} ${String(param)}`
}
