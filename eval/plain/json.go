package plain

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// JSON is an error of encoding/json in words for the writer of the text: the decoder's name
// types of Go. Other errors stay as they are.
func JSON(err error) error {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind):
		name := kind.Field
		if name == "" {
			name = "the object"
		}
		return fmt.Errorf("%s takes %s, not %s", name, takes(kind.Type), kind.Value)
	case errors.As(err, &syntax):
		return fmt.Errorf("it is no JSON, from character %d on", syntax.Offset)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("it is no JSON: it ends too early")
	}
	return err
}

func takes(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a text in quotes"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list in []"
	case reflect.Struct, reflect.Map:
		return "keys with values in {}"
	case reflect.Pointer:
		return takes(t.Elem())
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "a whole number"
}
