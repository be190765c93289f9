//! What stands between the brackets of an array or an object, of whatever the expressions are there.

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ArrayItem<E> {
    One(E),
    Spread(E),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ObjectMember<E> {
    Named(Box<str>, E),
    Spread(E),
}

impl<E> ArrayItem<E> {
    /// The item with another expression in the place of its own.
    pub(crate) fn try_map<T, X>(&self, map: impl FnOnce(&E) -> Result<T, X>) -> Result<ArrayItem<T>, X> {
        Ok(match self {
            ArrayItem::One(expr) => ArrayItem::One(map(expr)?),
            ArrayItem::Spread(expr) => ArrayItem::Spread(map(expr)?),
        })
    }
}

impl<E> ObjectMember<E> {
    /// The member with another expression in the place of its own.
    pub(crate) fn try_map<T, X>(&self, map: impl FnOnce(&E) -> Result<T, X>) -> Result<ObjectMember<T>, X> {
        Ok(match self {
            ObjectMember::Named(name, expr) => ObjectMember::Named(name.clone(), map(expr)?),
            ObjectMember::Spread(expr) => ObjectMember::Spread(map(expr)?),
        })
    }
}
