type Present<Shape> = { [Key in keyof Shape]?: Exclude<Shape[Key], undefined> }

/** The keys that have a value: an optional key of ours is absent, never undefined. */
export const present = <Shape extends object>(shape: Shape): Present<Shape> =>
  Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined)) as Present<Shape>
