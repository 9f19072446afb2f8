#include "program/mesh/assimp_says.h"

#include <assimp/metadata.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef SLABCAST_ZLIB
#include "program/mesh/zip.h"
#endif
#include "program/os/file.h"

/* ---- losses ---------------------------------------------------------------------- */

/* Parts of lines that release 5.2.5 logs as errors or warnings where it goes on without faces or places of the file.
 * Other lines are about materials, pictures, cameras, lights, skins and animations, or about parts that are read all
 * the same. */
static const char *const losses[] = {
    "Unable to parse property",                 /* PLY */
    "OFF: ",                                    /* OFF: vertices, faces */
    "just one vertex position stream",          /* Collada */
    "reference format of node",                 /* Collada */
    "reference to instanced node",              /* Collada */
    "Unable to find geometry for ID",           /* Collada */
    "different index count in <p>",             /* Collada */
    "FBX-DOM",                                  /* FBX: an object is left out */
    "FBX-Parser",                               /* FBX */
    "ignoring unrecognized geometry",           /* FBX: NURBS and the like */
    "skipping null geometry",                   /* FBX */
    "Unsupported RotationMode",                 /* FBX */
    "invert geometric scaling",                 /* FBX */
    "3DS: Chunk overflow",                      /* 3DS */
    "3DS: Vertex index overflow",               /* 3DS */
    "Invalid vertex index. It will be ignored", /* ASE */
    "Face has an invalid index",                /* ASE */
    "parse *MESH_FACE Element",                 /* ASE */
    "AC3D: Unexpected EOF",                     /* AC3D */
    "AC3D: Unexpected token: not all vertices", /* AC3D */
    "AC3D: Invalid vertex reference",           /* AC3D */
    "AC3D: material index is out of range",     /* AC3D: its faces are left out then */
    "DXF: Failed to resolve block",             /* DXF */
    "DXF: PolyLine instance",                   /* DXF */
    "DXF: BLOCK rotation",                      /* DXF */
    "DXF: INSERT within a BLOCK",               /* DXF */
    "DXF: not enough vertices",                 /* DXF */
    "DXF: more than 4 indices",                 /* DXF */
    "DXF: invalid vertex index",                /* DXF */
    "DXF: unexpected vertex setup in 3DFACE",   /* DXF */
    "Ignoring unknown polygon type",            /* LWO */
    "LWO2: Encountered unsupported primitive",  /* LWO */
    "LWO2: Failure evaluating face record",     /* LWO */
    "LWOB: face index is out of range",         /* LWO */
    "LWS: Failed to read external file",        /* LWS */
    "LWS: Found cross reference",               /* LWS */
    "Failed to resolve attachment",             /* LWS */
    "Bad triangle index",                       /* B3D */
    "IRR: Unable to load external file",        /* Irrlicht */
    "IRR: Unsupported node",                    /* Irrlicht */
    "IRR: Can't load another IRR file",         /* Irrlicht */
    "IRRMESH: A buffer must contain",           /* Irrlicht */
    "IRRMESH: Too many indices",                /* Irrlicht */
    "IRRMESH: Index out of range",              /* Irrlicht */
    "IRRMESH: Not enough indices",              /* Irrlicht */
    "Expected comma in vector definition",      /* Irrlicht */
    "NFF2: Vertex index overflow",              /* NFF */
    "NFF: Unexpected",                          /* NFF */
    "NFF: Encountered unsupported ID",          /* NFF */
    "NFF: Cone height",                         /* NFF */
    "either 9 or 12 floats",                    /* RAW */
    "has quads with <v4>",                      /* Ogre */
    "is not supported primitive type",          /* OpenGEX */
    "in <transform>",                           /* XGL */
    "failed to parse vec3",                     /* XGL */
    "failed to parse index",                    /* XGL */
    "during polygon",                           /* IFC */
    "window contour",                           /* IFC */
    "could not generate openings",              /* IFC */
    "convert Directrix curve",                  /* IFC */
    "as base surface for the IfcHalfSpace",     /* IFC */
    "boundary of boolean halfspace",            /* IFC */
    "clipping operand",                         /* IFC */
    "skipping unknown Ifc",                     /* IFC: faces, solids, placements, units */
    "no representations could be generated",    /* IFC */
};

/* Objects of FBX files that no face needs: animations, pictures, skins. */
static const char *const excuses[] = {
    "key times", "keyframes", "mbedded content", "Cluster", "index and weight array", "class: Line",
};

static bool has_any(const char *line, const char *const *parts, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strstr(line, parts[i])) return true;
  return false;
}

/* Parts that FBX reads all the same, although it logs warnings. */
static bool is_level(const char *line) {
  if (!strncmp(line, "Error", 5)) return true;
  return !strncmp(line, "Warn", 4) && strstr(line, "FBX-DOM") == NULL;
}

bool assimp_is_loss(const char *line, char loss[ASSIMP_LOSS_MAX]) {
  const char *text = strstr(line, ": ");
  if (!is_level(line) || !has_any(line, losses, sizeof losses / sizeof *losses)) return false;
  if (has_any(line, excuses, sizeof excuses / sizeof *excuses)) return false;
  snprintf(loss, ASSIMP_LOSS_MAX, "%s", text ? text + 2 : line);
  loss[strcspn(loss, "\n")] = '\0';
  return true;
}

/* ---- changes --------------------------------------------------------------------- */

assimp_change assimp_change_of(const mesh_file *file) {
  static const struct {
    const char *ending;
    assimp_change change;
  } changes[] = {
      {"dae", ASSIMP_ROOTS},   {"zae", ASSIMP_ROOTS},   {"fbx", ASSIMP_ROOTS},   {"3ds", ASSIMP_TURNS},
      {"prj", ASSIMP_TURNS},   {"ase", ASSIMP_TURNS},   {"ask", ASSIMP_TURNS},   {"dxf", ASSIMP_TURNS},
      {"md2", ASSIMP_TURNS},   {"md3", ASSIMP_TURNS},   {"mdc", ASSIMP_TURNS},   {"md5mesh", ASSIMP_TURNS},
      {"iqm", ASSIMP_TURNS},   {"x", ASSIMP_MIRRORS},   {"lwo", ASSIMP_MIRRORS}, {"lxo", ASSIMP_MIRRORS},
      {"lws", ASSIMP_MIRRORS}, {"b3d", ASSIMP_MIRRORS},
  };
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
    if (os_same_name(file->ending, changes[i].ending)) return changes[i].change;
  return ASSIMP_KEEPS;
}

/* ---- XML -------------------------------------------------------------------------- */

/* The text behind an XML element's name where the element first begins; NULL: there is none. */
static const char *find_element(const char *text, const char *name) {
  const size_t length = strlen(name);
  while ((text = strchr(text, '<')) != NULL) {
    if (!strncmp(text, "<!--", 4)) {
      text = strstr(text, "-->");
      if (text == NULL) return NULL;
      continue;
    }
    text++;
    if (!strncmp(text, name, length) && text[length] && strchr(" \t\r\n/>", text[length])) return text + length;
  }
  return NULL;
}

/* The value of an attribute, behind its element's name, begins here; NULL: it has none. */
static const char *find_attribute(const char *at, const char *name) {
  const size_t length = strlen(name);
  for (;;) {
    at += strspn(at, " \t\r\n");
    const size_t word = strcspn(at, " \t\r\n=/>");
    const char *value = at + word + strspn(at + word, " \t\r\n");
    if (word == 0 || *value != '=') return NULL;
    value += 1 + strspn(value + 1, " \t\r\n");
    if (*value != '"' && *value != '\'') return NULL;
    if (word == length && !strncmp(at, name, length)) return value + 1;
    at = strchr(value + 1, *value);
    if (at == NULL) return NULL;
    at++;
  }
}

/* ---- the requirements of 3MF ------------------------------------------------------ */

#ifdef SLABCAST_ZLIB
static const char model_name[] = "3D/3dmodel.model";

/* Extensions that a model of faces and places is whole without. */
static bool is_beside(const char *uri, size_t length) {
  static const char *const parts[] = {"/material/", "/production/", "/trianglesets/"};
  char text[160];
  snprintf(text, sizeof text, "%.*s", (int)length, uri);
  return has_any(text, parts, sizeof parts / sizeof *parts);
}

/* `model` is behind that element's name. */
static bool requires_more(const char *model, char loss[ASSIMP_LOSS_MAX]) {
  const char *at = find_attribute(model, "requiredextensions"), *blanks = " \t\r\n";
  char name[80];
  while (at && (at += strspn(at, blanks), *at) && !strchr("\"'", *at)) {
    const size_t length = strcspn(at, " \t\r\n\"'");
    snprintf(name, sizeof name, "xmlns:%.*s", length < 70 ? (int)length : 70, at);
    const char *uri = find_attribute(model, name), *shown = uri ? uri : at;
    const size_t shown_length = uri ? strcspn(uri, "\"'") : length;
    if (uri == NULL || !is_beside(uri, shown_length)) {
      snprintf(loss, ASSIMP_LOSS_MAX, "it requires the extension \"%.*s\", which is not read",
               shown_length < 100 ? (int)shown_length : 100, shown);
      return true;
    }
    at += length;
  }
  return false;
}

bool assimp_lacks(const mesh_file *file, char loss[ASSIMP_LOSS_MAX]) {
  size_t size = 0;
  char *text = os_same_name(file->ending, "3mf") ? zip_text(file->bytes, file->size, model_name, &size) : NULL;
  const char *model = text ? find_element(text, "model") : NULL;
  bool lacks = model && requires_more(model, loss);
  if (model && !lacks && strstr(model, ":path=") != NULL) {
    snprintf(loss, ASSIMP_LOSS_MAX, "it has objects in other files of its archive, which are not read");
    lacks = true;
  }
  free(text);
  return lacks;
}

#else

bool assimp_lacks(const mesh_file *file, char loss[ASSIMP_LOSS_MAX]) {
  (void)file, (void)loss;
  return false;
}

#endif

/* ---- axis and unit --------------------------------------------------------------- */

static double unit_called(const char *name) {
  static const struct {
    const char *name;
    double metres;
  } units[] = {{"micron", 1e-6}, {"millimeter", 1e-3}, {"centimeter", 1e-2}, {"meter", 1},
               {"inch", 0.0254}, {"foot", 0.3048},     {"feet", 0.3048}};
  for (size_t i = 0; name && i < sizeof units / sizeof *units; i++)
    if (!strncmp(name, units[i].name, strlen(units[i].name))) return units[i].metres;
  return 0;
}

static void collada_facts(const char *text, char *up, double *unit) {
  const char *axis = find_element(text, "up_axis"), *element = find_element(text, "unit");
  const char *metres = element ? find_attribute(element, "meter") : NULL;
  if (axis && *axis == '>') {
    axis += 1 + strspn(axis + 1, " \t\r\n");
    if (axis[0] >= 'X' && axis[0] <= 'Z' && !strncmp(axis + 1, "_UP", 3)) *up = (char)(axis[0] - 'X' + 'x');
  }
  if (metres) *unit = strtod(metres, NULL);
}

/* Millimetres where an AMF file names no unit. */
static void amf_facts(const char *text, double *unit) {
  const char *element = find_element(text, "amf"), *name = element ? find_attribute(element, "unit") : NULL;
  *unit = name ? unit_called(name) : 1e-3;
}

/* The same of 3MF, which is an archive. Its axis is z always. */
static void threemf_facts(const mesh_file *file, char *up, double *unit) {
#ifdef SLABCAST_ZLIB
  char text[4096];
  if (zip_begin_of(file->bytes, file->size, model_name, text, sizeof text) == 0) return;
  const char *element = find_element(text, "model"), *name = element ? find_attribute(element, "unit") : NULL;
  *unit = name ? unit_called(name) : 1e-3;
#else
  (void)file, (void)unit;
#endif
  *up = 'z';
}

/* FBX: centimetres, scaled, and an axis by its number. */
static void fbx_facts(const struct aiScene *scene, char *up, double *unit) {
  const struct aiMetadata *data = scene->mMetaData;
  for (unsigned i = 0; data && i < data->mNumProperties; i++) {
    const struct aiMetadataEntry *entry = &data->mValues[i];
    int32_t axis;
    float scale;
    if (!strcmp(data->mKeys[i].data, "UpAxis") && entry->mType == AI_INT32) {
      memcpy(&axis, entry->mData, sizeof axis);
      if (axis >= 0 && axis <= 2) *up = (char)('x' + axis);
    } else if (!strcmp(data->mKeys[i].data, "UnitScaleFactor") && entry->mType == AI_FLOAT) {
      memcpy(&scale, entry->mData, sizeof scale);
      if (scale > 0) *unit = (double)scale / 100;
    }
  }
}

void assimp_facts(const mesh_file *file, const struct aiScene *scene, char *up, double *unit) {
  *up = 0;
  *unit = 0;
  if (os_same_name(file->ending, "dae")) collada_facts(file->bytes, up, unit);
  if (os_same_name(file->ending, "amf")) amf_facts(file->bytes, unit);
  if (os_same_name(file->ending, "3mf")) threemf_facts(file, up, unit);
  if (os_same_name(file->ending, "fbx")) fbx_facts(scene, up, unit);
  if (!(*unit > 0 && *unit < 1e9)) *unit = 0;
}
