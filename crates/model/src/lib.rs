//! What users name: data types, values, selections, and how values convert.
//!
//! No I/O and no threads. `data_type` is the type as netCDF tells it, `stored` is how one element
//! lies in the file, `values` is what a read returns, `selection` is what is asked for, `convert`
//! turns numbers into the caller's numbers by netCDF's rules.

pub mod byte_order;
pub mod convert;
pub mod data_type;
pub mod fill;
pub mod names;
pub mod number;
pub mod quantize;
pub mod selection;
pub mod shape;
pub mod stored;
pub mod values;

pub use convert::{ConvertError, Misfit, RangeReport, Rules, convert};
pub use data_type::{
    Atomic, Complex, DataType, DefinitionFault, Field, ForeignType, UserClass, UserType,
};
pub use names::NameFault;
pub use number::Number;
pub use quantize::{Quantization, QuantizeFault};
pub use selection::{Axis, Index, Indexed, Selection, SelectionError, parse_indices};
pub use stored::{
    DecodeError, EncodeError, FloatFormat, Heap, HeapWriter, NativeOrder, NoHeap, PartialFloat,
    PartialInt, StoredMember, StoredType,
};
pub use values::{Kind, Values};
