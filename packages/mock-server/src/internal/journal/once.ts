/** Computes a value when it is first needed, and only then. Afterwards it keeps the value alone. */
export const once = <A>(compute: () => A): () => A => {
  let state: { readonly compute: () => A } | { readonly value: A } = { compute }
  return () => {
    if ("compute" in state) state = { value: state.compute() }
    return state.value
  }
}
