import { compileModel } from '../../core/model/compile-model.ts'
import { compileStorage } from '../../core/model/compile-storage.ts'
import type { Attribute, Holder, Model } from '../../core/model/model.ts'
import type { Storage, Table } from '../../core/model/storage.ts'
import { declare } from './declare.ts'

export function modelOf(yaml: string): Model {
  const result = compileModel(declare(yaml))
  if (!result.ok) throw new Error(result.reasons.map(({ message }) => message).join('\n'))
  return result.value
}

export const storageOf = (yaml: string): Storage => compileStorage(modelOf(yaml))

/** `path: message` of everything that is wrong. */
export function faultsOf(yaml: string): readonly string[] {
  const result = compileModel(declare(yaml))
  return result.ok ? [] : result.reasons.map(({ message, place }) => `${place.source}: ${message}`)
}

export function holderOf(model: Model, name: string): Holder {
  const holder =
    model.components.get(name) ?? [...model.contentTypes.values()].find(({ key }) => key === name)
  if (!holder) throw new Error(`no ${name}`)
  return holder
}

export function attributeOf(model: Model, holder: string, name: string): Attribute {
  const attribute = holderOf(model, holder).attributes.get(name)
  if (!attribute) throw new Error(`no ${holder}.${name}`)
  return attribute
}

export function tableOf(storage: Storage, name: string): Table {
  const table = storage.tables.find(each => each.name === name)
  if (!table) throw new Error(`no table ${name}`)
  return table
}
